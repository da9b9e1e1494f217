// Three classes on one engine around and beyond its capacity: the engine, the requests' lengths and
// the arrivals of QoServe's evaluation (Goel et al., ASPLOS 2026), with promises that a caller of a
// chat would ask for: 1 s to the first token and 50 ms a token, 6 s and 100 ms, 30 s and 200 ms, in
// equal parts. Prints which share of the offered promises each policy keeps, of the tightest class
// in brackets, as means over the seeds, and the lowest of the upper bounds on the whole.
//
//   three_tiers TRACE.csv[.gz] RATES [POLICY...]
//
// RATES: requests a second, separated by commas.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../fidelity/published_setup.h"
#include "baselines/registry.h"
#include "scenario/bounds.h"
#include "sim/simulator.h"
#include "workload/trace_reader.h"

namespace tidegate {
namespace {

constexpr int kSeeds = 5;
constexpr int kSeconds = 600;
constexpr int kDrainSeconds = 300;

std::vector<domain::ServiceClass> tiers() {
  std::vector<domain::ServiceClass> all = {bench::service_class(0, "tight"),
                                           bench::service_class(1, "middle"),
                                           bench::service_class(2, "loose")};
  const std::int64_t ttft_s[] = {1, 6, 30};
  const std::int64_t tpot_ms[] = {50, 100, 200};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].ttft = units::seconds(ttft_s[i]);
    all[i].tpot = units::milliseconds(tpot_ms[i]);
  }
  return all;
}

sim::World world_of(const std::string& policy, std::uint64_t seed) {
  sim::World world = bench::published_world(policy, tiers());
  world.seed = seed;
  // What scenarios have: the pool admits by what it hears of prompts half computed.
  world.physics.telemetry_period = units::milliseconds(100);
  world.horizon = units::seconds(kSeconds + kDrainSeconds);
  return world;
}

sim::Arrivals arrivals_of(const workload::Trace& trace, double rate, std::uint64_t seed) {
  const auto arrivals = std::make_shared<bench::PoissonArrivals>(
      trace, bench::Load{rate, rate, kSeconds}, tiers(), seed);
  return [arrivals] { return arrivals->next(); };
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string kept(const std::string& policy, const workload::Trace& trace, double rate) {
  double all = 0;
  double tight = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const report::Run run =
        sim::Simulator(world_of(policy, seed), arrivals_of(trace, rate, seed), {"m"}).run();
    all += run.totals.attainment_offered();
    tight += run.by_class.front().second.attainment_offered();
  }
  return fmt::format(" {:.3f} ({:.3f}) |", all / kSeeds, tight / kSeeds);
}

std::string bound(const workload::Trace& trace, double rate) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const report::Bounds bounds =
        scenario::bounds_of(world_of("tidegate", seed), arrivals_of(trace, rate, seed));
    sum += std::min({*bounds.roofline, *bounds.fluid, *bounds.interval_lp});
  }
  return fmt::format(" {:.3f} |", sum / kSeeds);
}

void compare(const workload::Trace& trace, const std::vector<double>& rates,
             const std::vector<std::string>& policies) {
  print("| requests/s |");
  for (const double rate : rates) print(fmt::format(" {:g} |", rate));
  print("\n| --- |");
  for (std::size_t i = 0; i < rates.size(); ++i) print(" --- |");
  for (const std::string& policy : policies) {
    print("\n| " + policy + " |");
    for (const double rate : rates) print(kept(policy, trace, rate));
  }
  print("\n| upper bound |");
  for (const double rate : rates) print(bound(trace, rate));
  print("\n");
}

int usage(const std::string& problem) {
  std::fputs((problem + "\nthree_tiers TRACE.csv[.gz] RATE[,RATE...] [POLICY...]\n").c_str(),
             stderr);
  return 2;
}

// Other projects', Tidegate with a part switched off each, and Tidegate.
std::vector<std::string> default_policies() {
  return {"fcfs",   "edf",     "qoserve", "tidegate/round-robin", "tidegate/unpriced",
          "shared", "unspent", "tidegate"};
}

std::vector<double> read_rates(const std::string& text) {
  std::vector<double> rates;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const double rate = std::atof(part.c_str());
    if (rate <= 0 || rate > 1'000) return {};
    rates.push_back(rate);
  }
  return rates;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return usage("a trace and rates are needed");
  const auto trace = workload::read_trace(arguments[0]);
  if (!trace) return usage(arguments[0] + ": " + trace.error().message);
  if (trace->rows.empty()) return usage(arguments[0] + ": it has no rows");
  const std::vector<double> rates = read_rates(arguments[1]);
  if (rates.empty()) return usage("a rate is above 0 and at most 1000 requests a second");
  std::vector<std::string> policies(arguments.begin() + 2, arguments.end());
  if (policies.empty()) policies = default_policies();
  for (const std::string& each : policies) {
    if (const auto known = baselines::policy(each); !known) return usage(known.error().message);
  }
  compare(*trace, rates, policies);
  return 0;
}

}  // namespace
}  // namespace tidegate

int main(int argc, char** argv) {
  return tidegate::run({argv + 1, argv + argc});
}
