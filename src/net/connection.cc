#include "net/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "net/response_head.h"

namespace tidegate::net {

namespace {

constexpr std::size_t kSmallReadBytes = 4 * kKiB;
constexpr std::size_t kLargeReadBytes = 64 * kKiB;
// The progress that renews a reader's time.
constexpr std::size_t kProgressBytes = 16 * kKiB;
constexpr std::chrono::seconds kLinger{1};

std::string plain_text_refusal(int status, std::string_view because) {
  return std::to_string(status) + " " + std::string(because) + "\n";
}

}  // namespace

Connection::Connection(Options options, const Strand& strand)
    : shared_(std::move(options.shared)),
      strand_(strand),
      stream_(std::move(options.stream)),
      peer_(std::move(options.peer)),
      over_capacity_(options.over_capacity),
      happened_timer_(strand),
      room_timer_(strand),
      stall_timer_(strand),
      scratch_(kSmallReadBytes) {
  ++shared_->open;
}

Connection::~Connection() {
  --shared_->open;
}

void Connection::start() {
  const auto self = shared_from_this();
  asio::co_spawn(
      strand_, [self]() -> asio::awaitable<void> { co_await self->run(); }, asio::detached);
}

void Connection::drain() {
  asio::post(strand_, [self = shared_from_this()] { self->notify(); });
}

void Connection::shut_down() {
  asio::post(strand_, [self = shared_from_this()] { self->close(CloseReason::kShutdown); });
}

void Connection::notify() {
  happened_ = true;
  happened_timer_.cancel();
}

void Connection::close(CloseReason reason) {
  if (std::exchange(closed_, true)) return;
  stream_->close();
  stall_timer_.cancel();
  room_timer_.cancel();
  notify();
  if (const auto channel = std::exchange(channel_, nullptr)) channel->end(reason);
}

asio::awaitable<bool> Connection::something_happens(Clock::time_point deadline) {
  if (!happened_ && !closed_) {
    happened_timer_.expires_at(deadline);
    co_await happened_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return std::exchange(happened_, false) || closed_;
}

asio::awaitable<void> Connection::run() {
  phase_began_ = Clock::now();
  arm_stall_timer();
  const bool usable = co_await stream_->handshake();
  stall_timer_.cancel();
  if (!usable || closed_) {
    close(CloseReason::kPeerGone);
    co_return;
  }
  const auto self = shared_from_this();
  asio::co_spawn(
      strand_, [self]() -> asio::awaitable<void> { co_await self->read_loop(); }, asio::detached);
  if (over_capacity_) {
    ++shared_->over_capacity;
    co_await refuse(503, "The server has no room for another connection.");
  }
  bool stays = !over_capacity_;
  while (stays && !closed_) {
    RequestReader reader(shared_->limits);
    stays = co_await read_request(reader);
    if (stays) stays = co_await serve(reader);
    first_request_ = false;
  }
  close(CloseReason::kDone);
}

asio::awaitable<void> Connection::read_loop() {
  const std::size_t bound =
      std::max(shared_->limits.pipeline_bytes, shared_->limits.header_bytes + kSmallReadBytes);
  while (!closed_) {
    if (inbox_.size() >= bound && !discarding_) {
      room_timer_.expires_at(Clock::time_point::max());
      co_await room_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    const asio::mutable_buffer into(scratch_.data(), scratch_.size());
    const Moved moved = co_await stream_->read_some(into);
    if (closed_) co_return;
    if (moved.error) break;
    if (!discarding_) inbox_.append(scratch_.data(), moved.bytes);
    resize_scratch(moved.bytes);
    notify();
  }
  if (closed_) co_return;
  peer_gone_ = true;
  if (channel_) close(CloseReason::kPeerGone);
  notify();
}

// Large while a large body comes in, small for the many connections that wait.
void Connection::resize_scratch(std::size_t just_read_bytes) {
  const bool was_full = just_read_bytes == scratch_.size();
  const bool was_small = just_read_bytes <= kSmallReadBytes / 2;
  if (was_full && scratch_.size() < kLargeReadBytes) scratch_.resize(kLargeReadBytes);
  if (was_small && scratch_.size() > kSmallReadBytes) scratch_ = std::vector<char>(kSmallReadBytes);
}

Connection::Clock::time_point Connection::read_deadline(const RequestReader& reader) const {
  const Limits& limits = shared_->limits;
  if (reader.state() == RequestReader::State::kHead) {
    const bool idle = inbox_.empty() && !first_request_;
    return phase_began_ + (idle ? limits.idle_timeout : limits.header_timeout);
  }
  const auto earned = std::chrono::milliseconds(static_cast<std::int64_t>(
      body_bytes_read_ * 1000 / std::max<std::size_t>(limits.body_bytes_per_s, 1)));
  return phase_began_ + limits.body_grace + earned;
}

asio::awaitable<bool> Connection::read_request(RequestReader& reader) {
  using State = RequestReader::State;
  phase_began_ = Clock::now();
  body_bytes_read_ = 0;
  bool continued = false;
  bool idle = inbox_.empty();
  while (!closed_) {
    const State before = reader.state();
    const std::size_t used = reader.feed(inbox_);
    inbox_.erase(0, used);
    room_timer_.cancel();
    if (reader.state() == State::kComplete || reader.state() == State::kRefused) co_return true;
    if (before == State::kBody) body_bytes_read_ += used;
    if (before != reader.state() || (idle && !inbox_.empty())) phase_began_ = Clock::now();
    idle = idle && inbox_.empty();
    if (reader.wants_continue() && !std::exchange(continued, true)) {
      const bool sent = co_await send_continue();
      if (!sent) break;
    }
    if (peer_gone_ || (idle && *shared_->draining)) break;
    const Clock::time_point deadline = read_deadline(reader);
    const bool in_time = co_await something_happens(deadline);
    // A caller that drips bytes makes something happen all the time.
    if (in_time && Clock::now() < read_deadline(reader)) continue;
    if (!idle || first_request_) ++shared_->timed_out;
    break;
  }
  co_return false;
}

asio::awaitable<bool> Connection::send_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  const bool sent = co_await send(kContinue, nullptr);
  co_return sent;
}

std::shared_ptr<Channel> Connection::open_channel(const RequestReader& reader,
                                                  const Request& request) {
  ChannelOptions options;
  options.version = reader.version();
  options.head_only = request.method == "HEAD";
  options.keep_alive = reader.keep_alive();
  options.stream_buffer_bytes = shared_->limits.stream_buffer_bytes;
  options.draining = shared_->draining;
  options.wake = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    asio::post(self->strand_, [weak] {
      if (const auto connection = weak.lock()) connection->notify();
    });
  };
  return std::make_shared<Channel>(std::move(options));
}

asio::awaitable<bool> Connection::serve(RequestReader& reader) {
  if (reader.state() == RequestReader::State::kRefused) {
    ++shared_->refused;
    co_await refuse(reader.refused_status(), reader.refused_because());
    co_return false;
  }
  Request request = reader.take();
  request.peer = peer_;
  const auto channel = open_channel(reader, request);
  channel_ = channel;
  if (peer_gone_) {
    close(CloseReason::kPeerGone);
    co_return false;
  }
  shared_->handler(make_exchange(std::move(request), channel));
  const bool stays = co_await send_answer(channel);
  co_return stays;
}

asio::awaitable<bool> Connection::send_answer(std::shared_ptr<Channel> channel) {
  while (!closed_) {
    const Channel::Taken taken = channel->take();
    if (!taken.bytes.empty()) {
      const bool sent = co_await send(taken.bytes, channel.get());
      if (!sent) close(CloseReason::kPeerGone);
      if (!sent) co_return false;
    }
    if (taken.last) {
      channel_ = nullptr;
      channel->end(taken.whole ? CloseReason::kDone : CloseReason::kCut);
      if (taken.whole && !taken.keep_alive) co_await linger();
      co_return taken.keep_alive;
    }
    if (taken.bytes.empty()) co_await something_happens(Clock::time_point::max());
  }
  co_return false;
}

void Connection::arm_stall_timer() {
  stall_timer_.expires_after(shared_->limits.write_stall_timeout);
  stall_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->stall_timer_.expiry() > Clock::now()) return;
    ++self->shared_->timed_out;
    self->close(CloseReason::kStalled);
  });
}

asio::awaitable<bool> Connection::send(std::string_view bytes, Channel* channel) {
  arm_stall_timer();
  std::size_t progress = 0;
  while (!bytes.empty() && !closed_) {
    const asio::const_buffer from(bytes.data(), bytes.size());
    const Moved moved = co_await stream_->write_some(from);
    if (moved.error) break;
    bytes.remove_prefix(moved.bytes);
    if (channel != nullptr) channel->sent(moved.bytes);
    progress += moved.bytes;
    if (progress < kProgressBytes || bytes.empty()) continue;
    progress = 0;
    arm_stall_timer();
  }
  stall_timer_.cancel();
  co_return bytes.empty() && !closed_;
}

asio::awaitable<void> Connection::refuse(int status, std::string_view because) {
  Headers headers;
  std::string body;
  if (shared_->refusal_body) {
    std::tie(headers, body) = shared_->refusal_body(status, because);
  } else {
    headers.emplace_back("content-type", "text/plain; charset=utf-8");
    body = plain_text_refusal(status, because);
  }
  ResponseHead head;
  head.status = status;
  head.keep_alive = false;
  head.content_length = body.size();
  const std::string bytes = response_head(head, headers) + body;
  const bool sent = co_await send(bytes, nullptr);
  if (sent) co_await linger();
}

asio::awaitable<void> Connection::linger() {
  stream_->end_sending();
  discarding_ = true;
  inbox_.clear();
  room_timer_.cancel();
  const Clock::time_point until = Clock::now() + kLinger;
  bool waiting = true;
  while (waiting && !closed_ && !peer_gone_) {
    waiting = co_await something_happens(until);
    waiting = waiting && Clock::now() < until;
  }
}

}  // namespace tidegate::net
