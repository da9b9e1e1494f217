#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/stream.h"

namespace tidegate::net {

namespace {

namespace ssl = asio::ssl;

class TlsStream final : public Stream {
 public:
  TlsStream(asio::ip::tcp::socket socket, ssl::context& context)
      : stream_(std::move(socket), context) {}

  asio::awaitable<bool> handshake() override {
    const auto [error] = co_await stream_.async_handshake(ssl::stream_base::server,
                                                          asio::as_tuple(asio::use_awaitable));
    co_return !error;
  }

  asio::awaitable<Moved> read_some(asio::mutable_buffer into) override {
    const auto [error, bytes] =
        co_await stream_.async_read_some(into, asio::as_tuple(asio::use_awaitable));
    Moved moved;
    moved.error = error;
    moved.bytes = bytes;
    co_return moved;
  }

  asio::awaitable<Moved> write_some(asio::const_buffer from) override {
    const auto [error, bytes] =
        co_await stream_.async_write_some(from, asio::as_tuple(asio::use_awaitable));
    Moved moved;
    moved.error = error;
    moved.bytes = bytes;
    co_return moved;
  }

  // Without a close_notify: every answer has an end mark of its own in HTTP/1.1.
  void end_sending() override {
    boost::system::error_code ignored;
    stream_.next_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  ssl::stream<asio::ip::tcp::socket> stream_;
};

class SslContext final : public TlsContext {
 public:
  SslContext() : context_(ssl::context::tls_server) {
    context_.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                         ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                         ssl::context::no_tlsv1_1 | ssl::context::single_dh_use);
  }

  std::unique_ptr<Stream> wrap(asio::ip::tcp::socket socket) override {
    return std::make_unique<TlsStream>(std::move(socket), context_);
  }

  ssl::context& context() { return context_; }

 private:
  ssl::context context_;
};

}  // namespace

units::Result<std::shared_ptr<TlsContext>> load_tls(const TlsFiles& files) {
  auto loaded = std::make_shared<SslContext>();
  boost::system::error_code error;
  loaded->context().use_certificate_chain_file(files.certificate_chain, error);
  if (error) {
    return units::error(files.certificate_chain,
                        "is not a PEM file with a certificate chain: " + error.message());
  }
  loaded->context().use_private_key_file(files.private_key, ssl::context::pem, error);
  if (error) {
    return units::error(files.private_key,
                        "is not a PEM file with the certificate's private key: " + error.message());
  }
  return loaded;
}

}  // namespace tidegate::net
