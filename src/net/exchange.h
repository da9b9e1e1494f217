// One HTTP request and the way to answer it, as the gateway sees them: no sockets, no library
// types. A handler gets an Exchange and answers it when it likes, from whichever thread it likes.
//
// Threading: every function of Exchange is thread-safe and returns at once; none of them blocks on
// the peer. Callbacks run on a network thread (or on the caller's own, where said) with no lock
// held; they must not block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::net {

// Name and value. Names of requests are lower-case; so should those of answers be.
using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

struct Request {
  std::string method;  // as sent: "GET", "POST"
  std::string target;  // as sent: "/v1/models?limit=3"
  Headers headers;     // in the order sent, names lower-case; trailers are dropped
  std::string body;    // whole and un-chunked
  std::string peer;    // "127.0.0.1:51234"
};

// How an exchange ended.
enum class CloseReason : std::uint8_t {
  kDone,      // the whole answer was handed to the kernel
  kPeerGone,  // the caller closed or reset; a half-close counts, it looks like a killed caller
  kStalled,   // the caller did not read for Limits::write_stall_timeout
  kCut,       // cut() or a dropped Exchange ended it
  kShutdown,  // the server was shut down
};

using ClosedCallback = std::function<void(CloseReason)>;

// Either one respond(), or begin_stream(), writes, and finish() or cut(). Calls out of this order,
// or after the end, do nothing and return false. Dropping the last reference before the answer is
// whole cuts the connection.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const Request& request() const = 0;

  // The whole answer. content-length is added, and for HEAD the body is left out. A header
  // `connection: close` ends the connection afterwards. REQUIRES: 200 <= status <= 599.
  virtual bool respond(int status, Headers headers, std::string body) = 0;

  // Starts an answer of unknown length (chunked; to HTTP/1.0 callers ended by closing).
  virtual bool begin_stream(int status, Headers headers) = 0;
  // Queues bytes and wakes the connection. False, and nothing taken, when the stream is over or
  // Limits::stream_buffer_bytes are still unsent (what is queued may pass the bound by one write):
  // the caller does not keep up, and the usual answer is to cancel the work and cut().
  virtual bool write(std::string_view bytes) = 0;
  // Ends the stream as whole: what is queued is sent, then the end mark.
  virtual bool finish() = 0;
  // Ends it as broken: what is queued is sent, then the connection closes without the end mark.
  virtual bool cut() = 0;

  // Registers the one callback, called exactly once when the exchange has ended; a caller that
  // goes away is noticed at once in every state, also before any answer was begun. Called on this
  // thread, at once, when it has ended already. REQUIRES: not called before on this exchange.
  virtual void on_closed(ClosedCallback callback) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace tidegate::net
