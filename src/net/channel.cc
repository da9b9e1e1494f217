#include "net/channel.h"

#include <array>
#include <charconv>
#include <ctime>
#include <utility>

#include "net/response_head.h"

namespace tidegate::net {

namespace {

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  const std::size_t length =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), length};
}

class ChannelExchange final : public Exchange {
 public:
  ChannelExchange(Request request, std::shared_ptr<Channel> channel)
      : request_(std::move(request)), channel_(std::move(channel)) {}
  ~ChannelExchange() override { channel_->cut(); }

  const Request& request() const override { return request_; }
  bool respond(int status, Headers headers, std::string body) override {
    return channel_->respond(status, headers, body);
  }
  bool begin_stream(int status, Headers headers) override {
    return channel_->begin_stream(status, headers);
  }
  bool write(std::string_view bytes) override { return channel_->write(bytes); }
  bool finish() override { return channel_->finish(); }
  bool cut() override { return channel_->cut(); }
  void on_closed(ClosedCallback callback) override { channel_->on_closed(std::move(callback)); }

 private:
  const Request request_;
  const std::shared_ptr<Channel> channel_;
};

}  // namespace

std::string Channel::head(int status, const Headers& headers, std::optional<std::size_t> length) {
  keep_alive_ = options_.keep_alive && !options_.draining->load() && !asks_to_close(headers) &&
                (length || options_.version == 11);
  const std::string date = http_date();
  ResponseHead head;
  head.status = status;
  head.version = options_.version;
  head.keep_alive = keep_alive_;
  head.content_length = length;
  head.date = date;
  return response_head(head, headers);
}

void Channel::wake(std::unique_lock<std::mutex> lock) {
  if (std::exchange(woken_, true)) return;
  lock.unlock();
  options_.wake();
}

bool Channel::respond(int status, const Headers& headers, std::string_view body) {
  std::unique_lock lock(mutex_);
  if (ended_ || state_ != State::kWaiting) return false;
  state_ = State::kWhole;
  queued_ = head(status, headers, body.size());
  if (!options_.head_only) queued_.append(body);
  unsent_bytes_ = queued_.size();
  wake(std::move(lock));
  return true;
}

bool Channel::begin_stream(int status, const Headers& headers) {
  std::unique_lock lock(mutex_);
  if (ended_ || state_ != State::kWaiting) return false;
  state_ = State::kStreaming;
  queued_ = head(status, headers, std::nullopt);
  unsent_bytes_ = queued_.size();
  wake(std::move(lock));
  return true;
}

void Channel::append_chunk(std::string_view bytes) {
  if (options_.version != 11) {
    queued_.append(bytes);
    return;
  }
  std::array<char, 20> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
  queued_.append(size.data(), static_cast<std::size_t>(end - size.data()));
  queued_.append("\r\n").append(bytes).append("\r\n");
}

bool Channel::write(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  if (ended_ || state_ != State::kStreaming) return false;
  if (unsent_bytes_ >= options_.stream_buffer_bytes) return false;
  // An empty chunk would be the end mark.
  if (bytes.empty() || options_.head_only) return true;
  const std::size_t before = queued_.size();
  append_chunk(bytes);
  unsent_bytes_ += queued_.size() - before;
  wake(std::move(lock));
  return true;
}

bool Channel::finish() {
  std::unique_lock lock(mutex_);
  if (ended_ || state_ != State::kStreaming) return false;
  state_ = State::kWhole;
  if (options_.version == 11 && !options_.head_only) queued_.append("0\r\n\r\n");
  wake(std::move(lock));
  return true;
}

bool Channel::cut() {
  std::unique_lock lock(mutex_);
  if (ended_ || state_ == State::kWhole || state_ == State::kCut) return false;
  state_ = State::kCut;
  wake(std::move(lock));
  return true;
}

void Channel::on_closed(ClosedCallback callback) {
  std::unique_lock lock(mutex_);
  if (!ended_) {
    callback_ = std::move(callback);
    return;
  }
  const CloseReason reason = *ended_;
  lock.unlock();
  callback(reason);
}

Channel::Taken Channel::take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  Taken taken;
  taken.bytes = std::exchange(queued_, {});
  taken.last = state_ == State::kWhole || state_ == State::kCut;
  taken.whole = state_ == State::kWhole;
  taken.keep_alive = taken.whole && keep_alive_;
  return taken;
}

void Channel::sent(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_bytes_ -= std::min(bytes, unsent_bytes_);
}

void Channel::end(CloseReason reason) {
  ClosedCallback callback;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = reason;
    queued_.clear();
    callback = std::exchange(callback_, nullptr);
  }
  if (callback) callback(reason);
}

std::shared_ptr<Exchange> make_exchange(Request request, std::shared_ptr<Channel> channel) {
  return std::make_shared<ChannelExchange>(std::move(request), std::move(channel));
}

}  // namespace tidegate::net
