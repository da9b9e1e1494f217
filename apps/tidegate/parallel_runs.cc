#include "parallel_runs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "sim/simulator.h"

namespace tidegate::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

units::Instant clock_now() {
  return units::Instant(std::chrono::nanoseconds(SteadyClock::now().time_since_epoch()).count());
}

report::Run run_one(const scenario::Prepared& prepared, const Job& job,
                    std::atomic<std::int64_t>& simulated_ns) {
  const units::Instant begin = clock_now();
  sim::Simulator simulator(prepared.world_of(job.seed), prepared.sources.arrivals(job.seed),
                           prepared.model_names());
  simulator.time_decisions(clock_now);
  simulator.observe([&simulated_ns](const auto&, const auto&, const auto&, units::Instant now) {
    simulated_ns.store(now.ns(), std::memory_order_relaxed);
  });
  report::Run run = simulator.run();
  run.policy = job.policy;
  run.wall_seconds = static_cast<double>((clock_now() - begin).value()) / 1e9;
  simulated_ns.store(prepared.world.horizon.value(), std::memory_order_relaxed);
  return run;
}

// What the workers share. Jobs are taken in order; results go to their own places.
class Crew {
 public:
  Crew(const scenario::Prepared& prepared, const std::vector<Job>& jobs)
      : prepared_(prepared), jobs_(jobs), runs_(jobs.size()), simulated_ns_(jobs.size()) {}

  void work() {
    for (std::size_t i = next_++; i < jobs_.size(); i = next_++) {
      try {
        runs_[i] = run_one(prepared_, jobs_[i], simulated_ns_[i]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ += 1;
      changed_.notify_all();
    }
  }

  // Until every job is done.
  void watch(const std::function<void(double)>& progress) {
    std::unique_lock lock(mutex_);
    const auto finished = [this] { return done_ == jobs_.size(); };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(200), finished)) {
      if (!progress) continue;
      lock.unlock();
      progress(share());
      lock.lock();
    }
    if (progress) progress(1);
  }

  std::vector<report::Run> take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(runs_);
  }

 private:
  double share() const {
    double sum = 0;
    for (const auto& each : simulated_ns_) sum += static_cast<double>(each.load());
    const auto all =
        static_cast<double>(prepared_.world.horizon.value()) * static_cast<double>(jobs_.size());
    return all > 0 ? sum / all : 1;
  }

  const scenario::Prepared& prepared_;
  const std::vector<Job>& jobs_;
  std::vector<report::Run> runs_;
  std::vector<std::atomic<std::int64_t>> simulated_ns_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<report::Run> run_all(const scenario::Prepared& prepared, const std::vector<Job>& jobs,
                                 const std::function<void(double)>& progress) {
  Crew crew(prepared, jobs);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(cores, jobs.size()); ++i) {
    workers.emplace_back([&crew] { crew.work(); });
  }
  crew.watch(progress);
  for (std::thread& each : workers) each.join();
  return crew.take();
}

}  // namespace tidegate::app
