#include "net/fetch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace tidegate::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;

using Error = boost::system::error_code;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
};

std::optional<Url> parse_url(std::string_view text) {
  Url url;
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  url.tls = text.substr(0, kTls.size()) == kTls;
  if (!url.tls && text.substr(0, kPlain.size()) != kPlain) return std::nullopt;
  text.remove_prefix(url.tls ? kTls.size() : kPlain.size());
  if (!text.empty() && text.back() == '/') text.remove_suffix(1);
  const std::size_t bracket = text.find(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  url.host = std::string(text.substr(0, colon));
  url.port = url.tls ? "443" : "80";
  if (colon != std::string_view::npos) url.port = std::string(text.substr(colon + 1));
  if (url.host.size() > 2 && url.host.front() == '[') {
    url.host = url.host.substr(1, url.host.size() - 2);
  }
  const bool sound = !url.host.empty() && !url.port.empty() &&
                     text.find_first_of("/?#@ ") == std::string_view::npos &&
                     url.port.find_first_not_of("0123456789") == std::string::npos;
  return sound ? std::optional(url) : std::nullopt;
}

http::request<http::empty_body> request_of(const FetchOptions& options, const Url& url) {
  http::request<http::empty_body> request(http::verb::get, options.target, 11);
  request.set(http::field::host, url.host + ":" + url.port);
  request.set(http::field::connection, "close");
  for (const auto& [name, value] : options.headers) request.set(name, value);
  return request;
}

template <class Stream>
asio::awaitable<Error> exchange(Stream& stream, const http::request<http::empty_body>& request,
                                http::response_parser<http::string_body>& parser) {
  const auto [write_error, written] = co_await http::async_write(stream, request, kTuple);
  if (write_error) co_return write_error;
  beast::flat_buffer buffer;
  const auto [read_error, read] = co_await http::async_read(stream, buffer, parser, kTuple);
  co_return read_error;
}

// One fetch and what it needs while it runs.
class Fetch {
 public:
  Fetch(const FetchOptions& options, Url url)
      : options_(options), url_(std::move(url)), context_(ssl::context::tls_client) {
    parser_.body_limit(options.body_bytes_max);
  }

  units::Result<Fetched> run() {
    Error error = trust();
    if (!error) {
      asio::co_spawn(
          io_, [this, &error]() -> asio::awaitable<void> { error = co_await ask(); },
          asio::detached);
      io_.run();
    }
    if (error) return units::error(options_.server, error.message() + " (" + doing_ + ")");
    return Fetched{static_cast<int>(parser_.get().result_int()), std::move(parser_.get().body())};
  }

 private:
  Error trust() {
    doing_ = "reading the certificate authorities";
    Error error;
    if (!url_.tls) return error;
    context_.set_verify_mode(ssl::verify_peer);
    if (options_.ca_file.empty()) {
      context_.set_default_verify_paths(error);
    } else {
      context_.load_verify_file(options_.ca_file, error);
    }
    return error;
  }

  asio::awaitable<Error> ask() {
    doing_ = "looking up " + url_.host;
    asio::ip::tcp::resolver resolver(io_);
    const auto [lookup_error, found] =
        co_await resolver.async_resolve(url_.host, url_.port, kTuple);
    if (lookup_error) co_return lookup_error;
    doing_ = "connecting";
    beast::tcp_stream stream(io_);
    stream.expires_after(options_.timeout);
    const auto [connect_error, endpoint] = co_await stream.async_connect(found, kTuple);
    if (connect_error) co_return connect_error;
    if (url_.tls) {
      const Error failed = co_await ask_with_tls(std::move(stream));
      co_return failed;
    }
    doing_ = "asking";
    const auto request = request_of(options_, url_);
    const Error failed = co_await exchange(stream, request, parser_);
    co_return failed;
  }

  asio::awaitable<Error> ask_with_tls(beast::tcp_stream plain) {
    doing_ = "agreeing on TLS";
    beast::ssl_stream<beast::tcp_stream> stream(std::move(plain), context_);
    stream.set_verify_callback(ssl::host_name_verification(url_.host));
    // What SSL_set_tlsext_host_name() does, whose macro casts in the old style.
    SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             url_.host.data());
    const auto [shake_error] = co_await stream.async_handshake(ssl::stream_base::client, kTuple);
    if (shake_error) co_return shake_error;
    doing_ = "asking";
    const auto request = request_of(options_, url_);
    const Error failed = co_await exchange(stream, request, parser_);
    co_return failed;
  }

  const FetchOptions& options_;
  Url url_;
  asio::io_context io_;
  ssl::context context_;
  http::response_parser<http::string_body> parser_;
  std::string doing_;
};

}  // namespace

units::Result<Fetched> fetch(const FetchOptions& options) {
  auto url = parse_url(options.server);
  if (!url) {
    return units::error(options.server,
                        "is no server's URL; write http://HOST:PORT or https://HOST");
  }
  return Fetch(options, *std::move(url)).run();
}

}  // namespace tidegate::net
