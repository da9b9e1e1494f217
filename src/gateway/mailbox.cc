#include "gateway/mailbox.h"

#include <iterator>
#include <utility>

#include "gateway/clock.h"

namespace tidegate::gateway {

bool Mailbox::try_post(Message message) {
  const std::lock_guard lock(mutex_);
  if (closed_ || messages_.size() >= capacity_) return false;
  push(std::move(message));
  return true;
}

void Mailbox::post(Message message) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return closed_ || messages_.size() < capacity_; });
  if (!closed_) push(std::move(message));
}

void Mailbox::post_urgent(Message message) {
  const std::lock_guard lock(mutex_);
  if (!closed_) push(std::move(message));
}

void Mailbox::push(Message message) {
  messages_.push_back(std::move(message));
  if (messages_.size() == 1) filled_.notify_one();
}

bool Mailbox::take(std::vector<Message>& out, units::Instant until) {
  out.clear();
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, time_point(until), [this] { return closed_ || !messages_.empty(); });
  const bool was_full = messages_.size() >= capacity_;
  out.assign(std::make_move_iterator(messages_.begin()), std::make_move_iterator(messages_.end()));
  messages_.clear();
  if (was_full) emptied_.notify_all();
  return !closed_ || !out.empty();
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
  emptied_.notify_all();
}

std::size_t Mailbox::size() const {
  const std::lock_guard lock(mutex_);
  return messages_.size();
}

}  // namespace tidegate::gateway
