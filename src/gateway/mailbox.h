// The ONE mailbox: everything that can change a decision enters here, and the order in which it is
// taken out is the truth. Many writers, one reader; bounded.
//
// Writers differ in what they may do when it is full: the edge is turned away (try_post), an engine
// waits (post), and news that a caller left or that the operator wants something always gets in
// (post_urgent): there is at most one of these for each request that is inside.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "gateway/message.h"
#include "units/quantity.h"

namespace tidegate::gateway {

class Mailbox {
 public:
  explicit Mailbox(std::size_t capacity) : capacity_(capacity) {}

  // False, and nothing taken, when it is full or closed.
  bool try_post(Message message);
  // Waits for room; drops the message when the mailbox is closed.
  void post(Message message);
  // Never waits and never fails while open.
  void post_urgent(Message message);

  // Moves everything that is there into `out` (emptied first); waits until there is something, or
  // until `until`. False when closed and empty.
  bool take(std::vector<Message>& out, units::Instant until);
  // No more posts; what is inside can still be taken.
  void close();
  std::size_t size() const;

 private:
  void push(Message message);

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::deque<Message> messages_;
  bool closed_ = false;
};

}  // namespace tidegate::gateway
