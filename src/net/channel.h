// What a handler's Exchange and the connection share: the queue of bytes to send and how it ends.
// The handler's side puts in from any thread, the connection takes out on its own; the one lock is
// held for copying bytes only, never while calling out.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/exchange.h"

namespace tidegate::net {

struct ChannelOptions {
  int version = 11;
  bool head_only = false;  // answers to HEAD carry no body
  bool keep_alive = true;  // what the caller asked for
  std::size_t stream_buffer_bytes = 0;
  // True once the server wants every connection to end after its answer.
  std::shared_ptr<const std::atomic<bool>> draining;
  // Called without the lock, from any thread, when there is something new to take.
  std::function<void()> wake;
};

class Channel {
 public:
  explicit Channel(ChannelOptions options) : options_(std::move(options)) {}

  // The handler's side; see Exchange.
  bool respond(int status, const Headers& headers, std::string_view body);
  bool begin_stream(int status, const Headers& headers);
  bool write(std::string_view bytes);
  bool finish();
  bool cut();
  void on_closed(ClosedCallback callback);

  // The connection's side. What is queued now, and whether anything may follow it.
  struct Taken {
    std::string bytes;
    bool last = false;   // nothing comes after these bytes
    bool whole = false;  // with `last`: the answer is complete, the end mark included
    bool keep_alive = false;
  };
  // The bytes count as unsent until sent() tells otherwise.
  Taken take();
  void sent(std::size_t bytes);
  // The exchange is over. The first call decides the reason and calls the callback.
  void end(CloseReason reason);

 private:
  enum class State : std::uint8_t { kWaiting, kStreaming, kWhole, kCut };
  std::string head(int status, const Headers& headers, std::optional<std::size_t> length);
  void append_chunk(std::string_view bytes);
  // Wakes the connection unless it was woken since it last took.
  void wake(std::unique_lock<std::mutex> lock);

  const ChannelOptions options_;
  std::mutex mutex_;
  State state_ = State::kWaiting;
  std::string queued_;
  std::size_t unsent_bytes_ = 0;  // queued and taken but not sent
  bool keep_alive_ = false;
  bool woken_ = false;
  std::optional<CloseReason> ended_;
  ClosedCallback callback_;
};

// The handler's end of a channel. Dropping it unanswered cuts.
std::shared_ptr<Exchange> make_exchange(Request request, std::shared_ptr<Channel> channel);

}  // namespace tidegate::net
