#include "net/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace tidegate::net {

namespace http = boost::beast::http;

namespace {

// The parser's own bound has 32 bits.
constexpr std::size_t kMaxParserBytes = kKiB * kKiB * kKiB;
// A chunk-size line or a trailer section may be this long before its end has to be seen.
constexpr std::size_t kChunkLineBytes = 4096;
// The end of a chunked body is at least "0 CRLF CRLF", so that at any point before it this many
// bytes are still to come. Beast 1.81 asserts it of a last chunk that comes in pieces: never give
// it less.
constexpr std::size_t kLastChunkBytes = 5;
constexpr const char* kTargetTooLong = "The request target is too long.";

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::string_body> beast;
};

RequestReader::RequestReader(const Limits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->beast.eager(true);
  parser_->beast.header_limit(static_cast<std::uint32_t>(
      std::min<std::size_t>(2 * limits.header_bytes + 1024, kMaxParserBytes)));
  parser_->beast.body_limit(limits.body_bytes);
}

RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;

std::size_t RequestReader::refuse(int status, std::string because) {
  state_ = State::kRefused;
  keep_alive_ = false;
  wants_continue_ = false;
  refused_status_ = status;
  refused_because_ = std::move(because);
  return 0;
}

std::size_t RequestReader::feed(std::string_view unread) {
  std::size_t used = 0;
  if (state_ == State::kHead) used = feed_head(unread);
  if (state_ == State::kBody) used += feed_body(unread.substr(used));
  return used;
}

// One empty line before a request line is skipped (RFC 9112, 2.2): old clients send one after a
// body.
std::size_t RequestReader::feed_head(std::string_view unread) {
  const std::size_t skipped = !skipped_line_ && unread.starts_with("\r\n") ? 2 : 0;
  if (skipped != 0) {
    skipped_line_ = true;
    scanned_ = 0;
  }
  const std::string_view rest = unread.substr(skipped);
  const std::size_t length = find_head_end(rest);
  if (state_ == State::kRefused || length == 0) return skipped;
  parse_head(rest.substr(0, length));
  return skipped + length;
}

bool RequestReader::check_line_byte(std::string_view unread, std::size_t at) {
  const char c = unread[at];
  if (c == '\0') refuse(400, "The request head must not contain NUL bytes.");
  if (c == '\n' && (at == 0 || unread[at - 1] != '\r')) {
    refuse(400, "Lines of the request head must end in CR LF.");
  }
  if (at > 0 && unread[at - 1] == '\r' && c != '\n') {
    refuse(400, "The request head must not contain a CR without a LF.");
  }
  if (at > 1 && unread[at - 1] == '\n' && (c == ' ' || c == '\t')) {
    refuse(400, "Header lines must not be folded.");
  }
  return state_ != State::kRefused;
}

std::size_t RequestReader::find_head_end(std::string_view unread) {
  const std::size_t bound = std::min(unread.size(), limits_.header_bytes);
  // The method and the version are no longer than 64 bytes together in any sane request line.
  const std::size_t first_line = std::min(unread.substr(0, bound).find('\n'), bound);
  if (first_line > limits_.target_bytes + 64) return refuse(414, kTargetTooLong);
  for (; scanned_ < bound; ++scanned_) {
    if (!check_line_byte(unread, scanned_)) return 0;
    if (unread.substr(0, scanned_ + 1).ends_with("\r\n\r\n")) return ++scanned_;
  }
  if (unread.size() < limits_.header_bytes) return 0;
  return refuse(431, "The request line and headers are too large.");
}

void RequestReader::parse_head(std::string_view head) {
  boost::beast::error_code error;
  auto& parser = parser_->beast;
  const std::size_t used = parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error == http::error::need_more) error = {};
  if (error == http::error::body_limit) {
    refuse(413, "The request body is too large.");
  } else if (error) {
    refuse(400, "The request head is malformed: " + error.message() + ".");
  } else if (used != head.size() || !parser.is_header_done()) {
    refuse(400, "The request head is malformed.");
  } else {
    check_head();
  }
  if (state_ == State::kHead) state_ = parser.is_done() ? State::kComplete : State::kBody;
  if (state_ != State::kBody) wants_continue_ = false;
}

void RequestReader::check_head() {
  const auto& message = parser_->beast.get();
  request_.method = std::string(view(message.method_string()));
  request_.target = std::string(view(message.target()));
  for (const auto& field : message) {
    std::string name(view(field.name_string()));
    std::transform(name.begin(), name.end(), name.begin(), lower);
    request_.headers.emplace_back(std::move(name), std::string(view(field.value())));
  }
  version_ = static_cast<int>(message.version());
  keep_alive_ = message.keep_alive();
  if (request_.target.size() > limits_.target_bytes) {
    refuse(414, kTargetTooLong);
  } else if (version_ != 10 && version_ != 11) {
    refuse(400, "The protocol must be HTTP/1.1 or HTTP/1.0.");
  } else {
    check_framing_fields();
  }
  if (state_ != State::kRefused) check_expectations();
}

void RequestReader::check_framing_fields() {
  std::size_t lengths = 0;
  std::size_t codings = 0;
  std::size_t hosts = 0;
  bool sound = true;
  for (const auto& [name, value] : request_.headers) {
    if (name == "host") ++hosts;
    if (name == "content-length") {
      ++lengths;
      sound = sound && all_digits(value);
    }
    if (name == "transfer-encoding") {
      ++codings;
      sound = sound && equals_ignoring_case(value, "chunked") && version_ == 11;
    }
  }
  if (!sound || lengths + codings > 1) {
    refuse(400, "The length of the body must be given once: content-length, or chunked.");
  } else if (hosts > 1 || (hosts == 0 && version_ == 11)) {
    refuse(400, "The request must have one host header.");
  }
}

void RequestReader::check_expectations() {
  for (const auto& [name, value] : request_.headers) {
    if (name == "content-encoding" && !equals_ignoring_case(value, "identity")) {
      refuse(415, "The body must not be compressed.");
    }
    if (name != "expect") continue;
    if (!equals_ignoring_case(value, "100-continue")) {
      refuse(417, "The only expectation that can be met is 100-continue.");
    }
    wants_continue_ = version_ == 11 && state_ != State::kRefused;
  }
}

std::size_t RequestReader::feed_body(std::string_view unread) {
  auto& parser = parser_->beast;
  std::size_t used = 0;
  boost::beast::error_code error;
  while (used < unread.size() && !parser.is_done()) {
    const std::string_view rest = unread.substr(used);
    if (parser.chunked() && rest.size() < kLastChunkBytes) break;
    const std::size_t taken = parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    used += taken;
    if (error == http::error::need_more) error = {};
    if (error || taken == 0) break;
  }
  if (used > 0) wants_continue_ = false;
  if (error == http::error::body_limit) {
    refuse(413, "The request body is too large.");
  } else if (error) {
    refuse(400, "The request body is malformed: " + error.message() + ".");
  } else if (parser.is_done()) {
    state_ = State::kComplete;
  } else if (unread.size() - used > kChunkLineBytes) {
    refuse(400, "A line of the chunked body is too long.");
  }
  return used;
}

Request RequestReader::take() {
  request_.body = std::move(parser_->beast.get().body());
  return std::move(request_);
}

}  // namespace tidegate::net
