// HTTP/1.1 request framing without sockets: bytes in, one Request or one refusal out. Boost.Beast's
// parser reads what is left after this room's own, stricter look at the raw head: whatever two
// parsers could read differently (bare CR or LF, NUL, folded lines, two lengths, length beside
// chunking, codings other than chunked) is refused, as RFC 9112 sections 2.2, 5.2 and 6.3 allow.
// One owner at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/exchange.h"
#include "net/server.h"

namespace tidegate::net {

class RequestReader {
 public:
  enum class State : std::uint8_t { kHead, kBody, kComplete, kRefused };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;

  // Looks at the unread bytes and returns how many of them it is done with; call again with the
  // rest and what came after. Consumes nothing of what follows a complete request. Linear in the
  // bytes over all calls. REQUIRES: `unread` begins with what the last call left.
  std::size_t feed(std::string_view unread);
  State state() const { return state_; }
  // The head is whole and the caller waits for "100 Continue" before it sends the body.
  bool wants_continue() const { return wants_continue_; }
  // Whether the connection may carry another request; false once refused.
  bool keep_alive() const { return keep_alive_; }
  // 10 or 11. REQUIRES: the head is whole.
  int version() const { return version_; }
  // REQUIRES: kRefused.
  int refused_status() const { return refused_status_; }
  const std::string& refused_because() const { return refused_because_; }
  // Gives up the request. REQUIRES: kComplete, called once.
  Request take();

 private:
  struct Parser;
  std::size_t refuse(int status, std::string because);
  std::size_t feed_head(std::string_view unread);
  std::size_t feed_body(std::string_view unread);
  // Scans on from where the last call stopped; the length of the whole head, or 0.
  std::size_t find_head_end(std::string_view unread);
  bool check_line_byte(std::string_view unread, std::size_t at);
  void parse_head(std::string_view head);
  void check_head();
  void check_framing_fields();
  void check_expectations();

  Limits limits_;
  std::unique_ptr<Parser> parser_;
  Request request_;
  State state_ = State::kHead;
  bool wants_continue_ = false;
  bool keep_alive_ = false;
  bool skipped_line_ = false;
  int version_ = 11;
  std::size_t scanned_ = 0;
  int refused_status_ = 0;
  std::string refused_because_;
};

}  // namespace tidegate::net
