// HTTP/1.1 server: reads whole requests within limits, hands each to the handler as an Exchange,
// and keeps one slow or hostile caller from hurting the others. Refuses what could be read in two
// ways (RFC 9112, 6.3 and 11.2): 400 and close. One server per listener; a second one serves the
// admin plane.
//
// Threading: the public functions may be called from any thread except the server's own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/exchange.h"
#include "units/result.h"

namespace tidegate::net {

inline constexpr std::size_t kKiB = 1024;

// Bounds on what one caller can make us hold or wait for. Sizes in bytes.
struct Limits {
  std::size_t target_bytes = 8 * kKiB;           // longer: 414
  std::size_t header_bytes = 32 * kKiB;          // request line and headers; more: 431
  std::size_t body_bytes = 4 * kKiB * kKiB;      // after un-chunking; more: 413
  std::size_t stream_buffer_bytes = 256 * kKiB;  // unsent bytes of one stream, see Exchange::write
  // Read ahead while an answer is under way. A caller that sends more is not read from any more, so
  // that its leaving is noticed only when the answer cannot be sent.
  std::size_t pipeline_bytes = 64 * kKiB;
  // Open connections. Held below half of what RLIMIT_NOFILE allows; more get a 503 and are closed.
  std::size_t connections = 8192;
  std::chrono::milliseconds header_timeout{
      10'000};  // from the first byte (or connect) to the blank line
  std::chrono::milliseconds body_grace{10'000};    // a body may take this long ...
  std::size_t body_bytes_per_s = 16 * kKiB;        // ... plus its size over this rate
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  // A caller that does not take 16 KiB, or all there is, in this time is stalled.
  std::chrono::milliseconds write_stall_timeout{20'000};
};

// PEM files; TLS 1.2 and later only.
struct TlsFiles {
  std::string certificate_chain;
  std::string private_key;
};

// A certificate and its key, read and found to belong together. Immutable.
class TlsContext;
units::Result<std::shared_ptr<TlsContext>> load_tls(const TlsFiles& files);

// The headers and body of an answer that the server gives by itself, so that it looks like the rest
// of the API: status is one of 400, 413, 414, 415, 417, 431, 503; `what` says what is wrong.
using RefusalBody =
    std::function<std::pair<Headers, std::string>(int status, std::string_view what)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IP address, v4 or v6
  std::uint16_t port = 0;             // 0: the system chooses, see Server::port
  int threads = 1;
  Limits limits;
  std::unique_ptr<TlsFiles> tls;  // null: plain
  RefusalBody refusal_body;       // null: plain text. Called on network threads.
};

// Counts since the start, except `open`.
struct ServerStats {
  std::uint64_t accepted = 0;
  std::uint64_t over_capacity = 0;  // answered 503 at the connection cap
  std::uint64_t refused = 0;        // requests that the server refused by itself
  std::uint64_t timed_out = 0;      // slow heads, bodies and readers: closed without a word
  std::size_t open = 0;
};

class Server {
 public:
  // Binds and listens; the first connection is accepted after start(). Error: a bad address, a port
  // in use, TLS files that cannot be used.
  static units::Result<std::unique_ptr<Server>> listen(ServerOptions options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts the network threads. REQUIRES: called once.
  void start();
  // The port bound to.
  std::uint16_t port() const;
  // Closes the listener and idle connections; running exchanges go on, and each connection closes
  // after its answer. Idempotent.
  void stop_accepting();
  // stop_accepting(), then ends every exchange with CloseReason::kShutdown, and returns when the
  // threads have ended. Idempotent; the destructor does it too. Not from a callback.
  void shutdown();
  // New connections get this certificate from now on; those that are open keep theirs.
  // REQUIRES: the server was opened with TLS.
  void use_tls(std::shared_ptr<TlsContext> tls);
  ServerStats stats() const;

 private:
  class Impl;
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidegate::net
