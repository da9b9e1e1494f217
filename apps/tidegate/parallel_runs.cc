#include "parallel_runs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "baselines/registry.h"
#include "bounds/speed.h"
#include "report/summary.h"
#include "scenario/bounds.h"
#include "side_by_side.h"
#include "sim/simulator.h"
#include "sim/speed.h"
#include "units/check.h"

namespace tidegate::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Of a speed factor: finer than the differences between seeds.
constexpr double kSpeedTolerance = 0.02;

units::Instant clock_now() {
  return units::Instant(std::chrono::nanoseconds(SteadyClock::now().time_since_epoch()).count());
}

sim::World world_for(const scenario::Prepared& prepared, const Job& job) {
  const auto policy = baselines::policy(job.policy);
  TIDEGATE_CHECK(policy.has_value());
  sim::World world = prepared.world_of(job.seed);
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  if (job.oracles.lengths) {
    world.known_lengths = true;
    world.length_bias = units::Ppm(units::kMillion);
  }
  if (job.oracles.times) {
    world.physics.step_noise = units::Ppm(0);
    for (sim::EngineModel& engine : world.engines) engine.batch.spec.law = engine.true_law;
  }
  return world;
}

// The policy's name, with what it knows.
void label(const Job& job, report::Run& run) {
  run.policy = job.policy;
  if (job.oracles.lengths) run.oracles.emplace_back("lengths");
  if (job.oracles.times) run.oracles.emplace_back("times");
  for (const std::string& each : run.oracles) run.policy += "+" + each;
}

report::Run run_one(const scenario::Prepared& prepared, const Job& job,
                    std::atomic<std::int64_t>& simulated_ns) {
  const units::Instant begin = clock_now();
  sim::Simulator simulator(world_for(prepared, job), prepared.sources.arrivals(job.seed, job.load),
                           prepared.model_names());
  simulator.time_decisions(clock_now);
  simulator.observe([&simulated_ns](const auto&, const auto&, const auto&, units::Instant now) {
    simulated_ns.store(now.ns(), std::memory_order_relaxed);
  });
  report::Run run = simulator.run();
  label(job, run);
  run.load = job.load;
  run.wall_seconds = static_cast<double>((clock_now() - begin).value()) / 1e9;
  simulated_ns.store(prepared.world.horizon.value(), std::memory_order_relaxed);
  return run;
}

// What the job's policy would attain on engines that much faster.
double attained_at(const scenario::Prepared& prepared, const Job& job, double speed) {
  sim::Simulator simulator(sim::with_speed(world_for(prepared, job), speed),
                           prepared.sources.arrivals(job.seed, job.load), prepared.model_names());
  return simulator.run().totals.attainment_offered();
}

std::optional<double> speed_factor(const scenario::Prepared& prepared, const Job& job,
                                   const report::Run& run) {
  const auto bound = report::tightest(run.bounds);
  if (!bound) return std::nullopt;
  const double attained = run.totals.attainment_offered();
  return bounds::speed_to_match(
      [&](double speed) { return speed == 1 ? attained : attained_at(prepared, job, speed); },
      {.target = bound->value, .tolerance = kSpeedTolerance});
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

// Jobs are taken in order, then the bounds of each seed and load; results go to their own places.
std::vector<report::Run> run_jobs(const scenario::Prepared& prepared, const std::vector<Job>& jobs,
                                  const std::function<void(double)>& progress) {
  std::vector<Possible> possible = each_input(jobs);
  std::vector<report::Run> runs(jobs.size());
  std::vector<std::atomic<std::int64_t>> simulated_ns(jobs.size());
  const auto perform = [&](std::size_t task) {
    if (task < jobs.size()) {
      runs[task] = run_one(prepared, jobs[task], simulated_ns[task]);
      return;
    }
    Possible& own = possible[task - jobs.size()];
    own.bounds = scenario::bounds_of(prepared.world_of(own.seed),
                                     prepared.sources.arrivals(own.seed, own.load));
  };
  const double all =
      static_cast<double>(prepared.world.horizon.value()) * static_cast<double>(jobs.size());
  side_by_side(jobs.size() + possible.size(), perform, [&] {
    double sum = 0;
    for (const auto& each : simulated_ns) sum += static_cast<double>(each.load());
    if (progress) progress(all > 0 ? sum / all : 1);
  });
  for (report::Run& run : runs) {
    for (const Possible& each : possible) {
      if (each.seed == run.seed && each.load == run.load) run.bounds = each.bounds;
    }
  }
  return runs;
}

}  // namespace

std::vector<report::Run> run_all(const scenario::Prepared& prepared, const std::vector<Job>& jobs,
                                 const RunOptions& options) {
  std::vector<report::Run> runs = run_jobs(prepared, jobs, options.progress);
  if (!options.speed_factor) return runs;
  std::atomic<std::size_t> done{0};
  const auto search = [&](std::size_t i) {
    runs[i].bounds.speed_factor = speed_factor(prepared, jobs[i], runs[i]);
    done += 1;
  };
  side_by_side(jobs.size(), search, [&] {
    if (options.progress)
      options.progress(static_cast<double>(done) / static_cast<double>(jobs.size()));
  });
  return runs;
}

}  // namespace tidegate::app
