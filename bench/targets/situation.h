// One scenario of the table of targets: its pool's capacity, what can be kept of a load at most,
// and runs of it under a policy, request by request. Deterministic; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenario/prepare.h"
#include "sim/request_log.h"

namespace tidegate::bench {

// A request that ended, and when waiting for it would have been given up by what it was last told.
struct Ended {
  sim::RequestLog::Ended request;
  units::Instant gives_up = units::Instant::never();
};

// Runs of one policy at one load, all seeds together.
struct Runs {
  std::string policy;
  std::vector<Ended> requests;
  double kept = 0;  // of offered, mean over the seeds
  std::vector<double> kept_of_class;
  // Prompt and output tokens served a second while requests arrive, after the warm-up; and in all.
  double tokens_per_s = 0;
  std::int64_t served_tokens = 0;
  double kv_used = 0;  // of the capacity, mean
  double kv_peak = 0;  // of the capacity, highest of one engine
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
  std::int64_t overcommits = 0;
  double widest_gap = 0;  // tokens of service (VTC's weights) between two tenants that both wait
};

// What a situation changes in its scenario.
using Edit = std::function<void(config::ScenarioConfig& config)>;

// Runs the world with the policy that `runs` names and adds what came of it, undivided: sums over
// runs stand where means are named. Requests arrive for `arrivals_for` after the start.
void add_run(Runs& runs, sim::World world, const sim::Arrivals& arrivals,
             units::Nanos arrivals_for);
// Makes means of the sums of so many runs.
void divide(Runs& runs, int by);

class Situation {
 public:
  // Ends the program with a message where the file is wrong. Requests arrive for the scenario's
  // run; for `drain` more they are served to their end, so that what a run cuts off is no miss.
  Situation(const std::string& file, units::Nanos drain, const Edit& edit = {});

  // The highest load (a multiple of the scenario's rates) of which some policy might keep all but
  // a thousandth of what it might keep of a tenth of that load: where the lowest of the bounds
  // begins to fall.
  // Requests of seed 1; to 2 %.
  double capacity() const;
  // Requests a second at this load.
  double rate(double load) const;
  // The lowest upper bound on what can be kept of a load, mean over the seeds.
  double bound(double load, int seeds) const;
  Runs run(const std::string& policy, double load, int seeds) const;

  const config::ScenarioConfig& config() const { return *prepared_.config; }
  const sim::World& world() const { return prepared_.world; }

 private:
  sim::World world_of(std::uint64_t seed) const;

  scenario::Prepared prepared_;
  units::Nanos drain_;
};

}  // namespace tidegate::bench
