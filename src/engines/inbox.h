// The inbox of an engine: any thread posts commands, the engine's thread takes all of them at once,
// in the order in which they were posted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace tidegate::engines {

template <class Command>
class Inbox {
 public:
  // Thread-safe; never blocks for longer than it takes to append.
  void post(Command command) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    arrived_.notify_one();
  }

  // Everything posted since the last take, into `taken` (emptied first); empty when nothing came
  // within `patience`.
  void take(std::vector<Command>& taken, std::chrono::nanoseconds patience) {
    taken.clear();
    std::unique_lock lock(mutex_);
    if (patience.count() > 0) {
      arrived_.wait_for(lock, patience, [this] { return !commands_.empty(); });
    }
    commands_.swap(taken);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Command> commands_;
};

}  // namespace tidegate::engines
