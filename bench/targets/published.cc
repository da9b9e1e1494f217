// QoServe's published evaluation (bench/fidelity/qoserve_setup.cc has all of it): its engine, its
// three tiers, 6 requests a second for an hour, and a square wave of 2 and 5 for two.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "../fidelity/published_setup.h"
#include "report/summary.h"
#include "requests.h"
#include "rows.h"
#include "scenario/bounds.h"
#include "workload/trace_reader.h"

namespace tidegate::bench {
namespace {

constexpr double kLongestPromiseSeconds = 1'800;

std::vector<domain::ServiceClass> tiers() {
  std::vector<domain::ServiceClass> all = {service_class(0, "interactive"),
                                           service_class(1, "minutes"),
                                           service_class(2, "half an hour")};
  all[0].ttft = units::seconds(6);
  all[0].tpot = units::milliseconds(50);
  all[1].deadline = units::seconds(600);
  all[2].deadline = units::seconds(1'800);
  return all;
}

// One seed of QoServe's requests under the policy.
struct Input {
  sim::World world;
  sim::Arrivals arrivals;
};

Input input(const std::string& policy, const workload::Trace& trace, const Load& load,
            std::uint64_t seed) {
  const auto requests = std::make_shared<PoissonArrivals>(trace, load, tiers(), seed);
  Input made{published_world(policy, tiers()), [requests] { return requests->next(); }};
  made.world.seed = seed;
  made.world.horizon = units::seconds(2 * load.seconds + 1'800);
  return made;
}

Runs run(const std::string& policy, const workload::Trace& trace, const Load& load, int seeds) {
  Runs runs;
  runs.policy = policy;
  for (int seed = 1; seed <= seeds; ++seed) {
    Input in = input(policy, trace, load, static_cast<std::uint64_t>(seed));
    add_run(runs, std::move(in.world), in.arrivals, units::seconds(load.seconds));
  }
  divide(runs, seeds);
  return runs;
}

double least_missed(const workload::Trace& trace, const Load& load, int seeds) {
  double kept = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Input in = input("tidegate", trace, load, static_cast<std::uint64_t>(seed));
    kept += report::tightest(scenario::bounds_of(in.world, in.arrivals))->value;
  }
  return 1 - kept / seeds;
}

void compare(const Bench& bench, const workload::Trace& trace, const std::string& situation,
             const Load& load) {
  const Runs own = run("tidegate", trace, load, bench.seeds);
  const Runs other = run("qoserve", trace, load, bench.seeds);
  bench.add({situation, "fewer missed than qoserve", share(1 - own.kept), own.kept > other.kept,
             with(share(1 - other.kept), other.policy),
             share(least_missed(trace, load, bench.seeds))});
  const double longest = longest_ttft(own, anybody());
  bench.add({situation, "longest wait within the longest promise", seconds(longest),
             longest <= kLongestPromiseSeconds,
             with(seconds(longest_ttft(other, anybody())), other.policy)});
}

}  // namespace

void published(const Bench& bench) {
  if (bench.trace.empty()) {
    std::fputs("targets: QoServe's rows need --trace; they are left out\n", stderr);
    return;
  }
  const auto trace = workload::read_trace(bench.trace);
  if (!trace || trace->rows.empty()) {
    std::fputs(fmt::format("targets: {} has no rows to read\n", bench.trace).c_str(), stderr);
    return;
  }
  compare(bench, *trace, "QoServe's setup, 6/s", {6, 6, 3'600});
  compare(bench, *trace, "QoServe's square wave, 2 and 5/s", {2, 5, 7'200});
}

}  // namespace tidegate::bench
