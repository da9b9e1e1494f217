// QoServe's published evaluation (Goel et al., ASPLOS 2026) in the simulator: Llama-3-8B on one
// A100 with the step-time law that they published, prompts and outputs of the Azure code trace,
// Poisson arrivals, three tiers in equal parts: 6 s to the first token and 50 ms a token; 600 s for
// the whole answer; 1,800 s for it. Prints the share of broken promises for each policy and rate,
// the highest rate with at most 1 % of them, and the same for a square wave of 2 and 5 requests a
// second in turns of 15 minutes.
//
//   qoserve_setup AZURE_CODE.csv[.gz] HOURS [POLICY...]
//
// where requests arrive for so many hours.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baselines/registry.h"
#include "published_setup.h"
#include "sim/simulator.h"
#include "workload/trace_reader.h"

namespace tidegate {
namespace {

using bench::Load;

constexpr int kSeeds = 3;
constexpr double kAllowed = 0.01;

std::vector<domain::ServiceClass> tiers() {
  std::vector<domain::ServiceClass> all = {bench::service_class(0, "interactive"),
                                           bench::service_class(1, "minutes"),
                                           bench::service_class(2, "half an hour")};
  all[0].ttft = units::seconds(6);
  all[0].tpot = units::milliseconds(50);
  all[1].deadline = units::seconds(600);
  all[2].deadline = units::seconds(1'800);
  return all;
}

double broken(const std::string& policy, const workload::Trace& trace, const Load& load) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto arrivals = std::make_shared<bench::PoissonArrivals>(trace, load, tiers(), seed);
    sim::World world = bench::published_world(policy, tiers());
    world.seed = seed;
    world.horizon = units::seconds(2 * load.seconds + 1'800);
    sim::Simulator simulator(std::move(world), [arrivals] { return arrivals->next(); }, {"m"});
    sum += 1 - simulator.run().totals.attainment_offered();
  }
  return sum / kSeeds;
}

// Up to 6 requests a second, to a quarter of one: in whole steps first, then between the last one
// that keeps 99 % and the next.
double highest_rate(const std::string& policy, const workload::Trace& trace, int seconds,
                    double whole) {
  double highest = whole;
  for (double rate = whole + 0.25; rate < whole + 1; rate += 0.25) {
    if (broken(policy, trace, {rate, rate, seconds}) > kAllowed) break;
    highest = rate;
  }
  return highest;
}

void report(const std::string& policy, const workload::Trace& trace, int seconds) {
  std::fputs(fmt::format("| {} |", policy).c_str(), stdout);
  double whole = 0;
  for (double rate = 1; rate <= 6; rate += 1) {
    const double share = broken(policy, trace, {rate, rate, seconds});
    if (share <= kAllowed) whole = rate;
    std::fputs(fmt::format(" {:.1f} % |", share * 100).c_str(), stdout);
    std::fflush(stdout);
  }
  const double wave = broken(policy, trace, {2, 5, seconds});
  std::fputs(
      fmt::format(" {:.2f} | {:.1f} % |\n", highest_rate(policy, trace, seconds, whole), wave * 100)
          .c_str(),
      stdout);
  std::fflush(stdout);
}

int compare(const std::string& path, int seconds, std::vector<std::string> policies) {
  const auto trace = workload::read_trace(path);
  if (!trace || trace->rows.empty()) {
    const std::string why = trace ? "it has no rows" : trace.error().message;
    std::fputs((path + ": " + why + "\n").c_str(), stderr);
    return 2;
  }
  if (policies.empty()) policies = {"sarathi", "edf", "qoserve", "tidegate"};
  for (const std::string& each : policies) {
    if (const auto known = baselines::policy(each); !known) {
      std::fputs((known.error().message + "\n").c_str(), stderr);
      return 2;
    }
  }
  std::fputs("| broken at, requests/s | 1 | 2 | 3 | 4 | 5 | 6 | highest with 1 % | square wave |\n",
             stdout);
  std::fputs("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", stdout);
  for (const std::string& each : policies) report(each, *trace, seconds);
  return 0;
}

}  // namespace
}  // namespace tidegate

int main(int argc, char** argv) {
  const int hours = argc < 3 ? 0 : std::atoi(argv[2]);
  if (hours < 1 || hours > 24) {
    std::fputs("qoserve_setup AZURE_CODE.csv[.gz] HOURS [POLICY...]\n", stderr);
    return 2;
  }
  return tidegate::compare(argv[1], hours * 3'600, {argv + 3, argv + argc});
}
