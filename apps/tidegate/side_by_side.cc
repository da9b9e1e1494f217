#include "side_by_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tidegate::app {
namespace {

class Crew {
 public:
  Crew(std::size_t tasks, const std::function<void(std::size_t)>& perform)
      : tasks_(tasks), perform_(perform) {}

  void work() {
    for (std::size_t i = next_++; i < tasks_; i = next_++) {
      try {
        perform_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ += 1;
      changed_.notify_all();
    }
  }

  void wait(const std::function<void()>& watch) {
    std::unique_lock lock(mutex_);
    const auto finished = [this] { return done_ == tasks_; };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(200), finished)) {
      lock.unlock();
      watch();
      lock.lock();
    }
  }

  void check() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t tasks_;
  const std::function<void(std::size_t)>& perform_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void side_by_side(std::size_t tasks, const std::function<void(std::size_t)>& perform,
                  const std::function<void()>& watch) {
  Crew crew(tasks, perform);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(cores, tasks); ++i) {
    workers.emplace_back([&crew] { crew.work(); });
  }
  crew.wait(watch);
  for (std::thread& each : workers) each.join();
  watch();
  crew.check();
}

}  // namespace tidegate::app
