#include "parallel_runs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "baselines/registry.h"
#include "scenario/bounds.h"
#include "sim/simulator.h"
#include "units/check.h"

namespace tidegate::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

units::Instant clock_now() {
  return units::Instant(std::chrono::nanoseconds(SteadyClock::now().time_since_epoch()).count());
}

report::Run run_one(const scenario::Prepared& prepared, const Job& job,
                    std::atomic<std::int64_t>& simulated_ns) {
  const units::Instant begin = clock_now();
  const auto policy = baselines::policy(job.policy);
  TIDEGATE_CHECK(policy.has_value());
  sim::World world = prepared.world_of(job.seed);
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  sim::Simulator simulator(std::move(world), prepared.sources.arrivals(job.seed, job.load),
                           prepared.model_names());
  simulator.time_decisions(clock_now);
  simulator.observe([&simulated_ns](const auto&, const auto&, const auto&, units::Instant now) {
    simulated_ns.store(now.ns(), std::memory_order_relaxed);
  });
  report::Run run = simulator.run();
  run.policy = job.policy;
  run.load = job.load;
  run.wall_seconds = static_cast<double>((clock_now() - begin).value()) / 1e9;
  simulated_ns.store(prepared.world.horizon.value(), std::memory_order_relaxed);
  return run;
}

// What no policy can exceed with the requests of one seed at one load.
struct Possible {
  std::uint64_t seed = 1;
  double load = 1;
  report::Bounds bounds;
};

std::vector<Possible> each_input(const std::vector<Job>& jobs) {
  std::vector<Possible> inputs;
  for (const Job& job : jobs) {
    const auto same = [&](const Possible& p) { return p.seed == job.seed && p.load == job.load; };
    if (std::none_of(inputs.begin(), inputs.end(), same))
      inputs.push_back({job.seed, job.load, {}});
  }
  return inputs;
}

// What the workers share. Jobs are taken in order, then the bounds of each seed and load; results
// go to their own places.
class Crew {
 public:
  Crew(const scenario::Prepared& prepared, const std::vector<Job>& jobs)
      : prepared_(prepared),
        jobs_(jobs),
        possible_(each_input(jobs)),
        runs_(jobs.size()),
        simulated_ns_(jobs.size()) {}

  std::size_t tasks() const { return jobs_.size() + possible_.size(); }

  void work() {
    for (std::size_t i = next_++; i < tasks(); i = next_++) {
      try {
        perform(i);
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
    const auto finished = [this] { return done_ == tasks(); };
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
    for (report::Run& run : runs_) {
      for (const Possible& each : possible_) {
        if (each.seed == run.seed && each.load == run.load) run.bounds = each.bounds;
      }
    }
    return std::move(runs_);
  }

 private:
  void perform(std::size_t task) {
    if (task < jobs_.size()) {
      runs_[task] = run_one(prepared_, jobs_[task], simulated_ns_[task]);
      return;
    }
    Possible& possible = possible_[task - jobs_.size()];
    possible.bounds = scenario::bounds_of(prepared_.world_of(possible.seed),
                                          prepared_.sources.arrivals(possible.seed, possible.load));
  }

  double share() const {
    double sum = 0;
    for (const auto& each : simulated_ns_) sum += static_cast<double>(each.load());
    const auto all =
        static_cast<double>(prepared_.world.horizon.value()) * static_cast<double>(jobs_.size());
    return all > 0 ? sum / all : 1;
  }

  const scenario::Prepared& prepared_;
  const std::vector<Job>& jobs_;
  std::vector<Possible> possible_;
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
  for (std::size_t i = 0; i < std::min(cores, crew.tasks()); ++i) {
    workers.emplace_back([&crew] { crew.work(); });
  }
  crew.watch(progress);
  for (std::thread& each : workers) each.join();
  return crew.take();
}

}  // namespace tidegate::app
