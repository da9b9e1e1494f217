// One accepted connection, from the first byte to the close: reads requests one after the other,
// hands each to the handler, and sends what comes back. Two coroutines on one strand: `run` reads
// requests and sends answers, `read_loop` only ever reads bytes, so that a caller that goes away is
// noticed in every state. Owned by its own coroutines; everything but shut_down() and drain() runs
// on its strand.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "net/request_reader.h"
#include "net/server.h"
#include "net/stream.h"

namespace tidegate::net {

// What all connections of a server share. `context` keeps the io_context alive for as long as
// anything refers to it.
struct Shared {
  std::shared_ptr<asio::io_context> context;
  Limits limits;
  RefusalBody refusal_body;
  Handler handler;
  std::shared_ptr<std::atomic<bool>> draining = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> over_capacity{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> timed_out{0};
  std::atomic<std::size_t> open{0};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Strand = asio::strand<asio::io_context::executor_type>;

  struct Options {
    std::shared_ptr<Shared> shared;
    std::unique_ptr<Stream> stream;
    std::string peer;
    bool over_capacity = false;  // only to be told so
  };

  Connection(Options options, const Strand& strand);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Starts the coroutines, which keep the connection alive until it is closed.
  void start();
  // Closes when no exchange is under way. From any thread.
  void drain();
  // Closes, and ends the exchange under way with kShutdown. From any thread.
  void shut_down();

 private:
  using Clock = std::chrono::steady_clock;

  asio::awaitable<void> run();
  asio::awaitable<void> read_loop();
  // Waits until something happened (true) or the deadline passed (false).
  asio::awaitable<bool> something_happens(Clock::time_point deadline);
  // True when `reader` holds a complete or refused request; false when the connection is to close.
  asio::awaitable<bool> read_request(RequestReader& reader);
  asio::awaitable<bool> send_continue();
  // True when the connection may carry another request.
  asio::awaitable<bool> serve(RequestReader& reader);
  asio::awaitable<bool> send_answer(std::shared_ptr<Channel> channel);
  asio::awaitable<bool> send(std::string_view bytes, Channel* channel);
  asio::awaitable<void> refuse(int status, std::string_view because);
  // Lets the caller read what was sent before the close resets the connection.
  asio::awaitable<void> linger();

  Clock::time_point read_deadline(const RequestReader& reader) const;
  std::shared_ptr<Channel> open_channel(const RequestReader& reader, const Request& request);
  void resize_scratch(std::size_t just_read_bytes);
  void notify();
  void arm_stall_timer();
  void close(CloseReason reason);

  const std::shared_ptr<Shared> shared_;
  Strand strand_;
  const std::unique_ptr<Stream> stream_;
  const std::string peer_;
  const bool over_capacity_;

  asio::steady_timer happened_timer_;  // wakes run
  asio::steady_timer room_timer_;      // wakes read_loop
  asio::steady_timer stall_timer_;
  std::vector<char> scratch_;
  std::string inbox_;  // bytes read and not yet consumed
  std::shared_ptr<Channel> channel_;
  Clock::time_point phase_began_{};
  std::size_t body_bytes_read_ = 0;
  bool happened_ = false;
  bool first_request_ = true;
  bool discarding_ = false;  // lingering: what is read is thrown away
  bool peer_gone_ = false;
  bool closed_ = false;
};

}  // namespace tidegate::net
