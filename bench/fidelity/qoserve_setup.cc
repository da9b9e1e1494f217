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
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "baselines/registry.h"
#include "sim/simulator.h"
#include "units/prng.h"
#include "workload/trace_reader.h"

namespace tidegate {
namespace {

using units::Instant;
using units::Nanos;
using units::Tokens;

constexpr std::int64_t kNanosecond = 1'000'000;  // femtoseconds
constexpr int kTurnSeconds = 900;
constexpr int kSeeds = 3;
constexpr double kAllowed = 0.01;

// Their law in our form (docs/fidelity.md says what differs).
domain::StepCoefficients published_law() {
  domain::StepCoefficients law;
  law.base_fs = 14'936'000 * kNanosecond;
  law.knees = {Tokens(512), Tokens(512)};
  law.per_token_fs = {81'300 * kNanosecond, 81'300 * kNanosecond, 95'800 * kNanosecond};
  law.per_decode_fs = 13'900 * kNanosecond;
  law.per_kv_token_fs = 111 * kNanosecond;
  law.per_attention_fs = 3 * kNanosecond / 2;
  return law;
}

// What a policy may put into one step. The static chunk of the Sarathi policies is the one that
// QoServe's authors gave them: what keeps a step with decodes under 50 ms.
std::int64_t step_tokens(const std::string& policy) {
  const bool chunked = policy == "sarathi" || policy == "edf";
  return chunked ? 256 : 4'096;
}

domain::ServiceClass tier(std::uint64_t id, const char* name) {
  domain::ServiceClass each;
  each.id = units::ClassId(id);
  each.name = name;
  return each;
}

std::vector<domain::ServiceClass> tiers() {
  std::vector<domain::ServiceClass> all = {tier(0, "interactive"), tier(1, "minutes"),
                                           tier(2, "half an hour")};
  all[0].ttft = units::seconds(6);
  all[0].tpot = units::milliseconds(50);
  all[1].deadline = units::seconds(600);
  all[2].deadline = units::seconds(1'800);
  return all;
}

sim::World world_of(const std::string& policy_name, std::uint64_t seed, int arrival_seconds) {
  const auto policy = baselines::policy(policy_name);
  sim::World world;
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  world.seed = seed;
  world.pool.classes = tiers();
  world.pool.tenants = {domain::Tenant{}};
  world.pool.models = {units::ModelId(0)};
  world.pool.limits.max_requests = world.pool.limits.max_queued = 20'000;
  sim::EngineModel engine;
  engine.gpu = "A100";
  engine.true_law = published_law();
  engine.batch.max_waiting = 20'000;
  engine.batch.spec.law = engine.true_law;
  engine.batch.spec.calibrated = true;
  // 80 GB, nine tenths of it, less 16 GB of weights, at 128 KiB a token.
  engine.batch.spec.limits = {units::Blocks(27'000), 256, Tokens(step_tokens(policy_name)),
                              Tokens(16'384)};
  world.engines = {engine};
  world.physics.telemetry_period = units::seconds(1);  // there is nothing to choose between
  world.physics.step_noise = units::Ppm(20'000);
  world.horizon = units::seconds(2 * arrival_seconds + 1'800);
  return world;
}

domain::Promise promise_of(const domain::ServiceClass& service_class, Instant arrival) {
  domain::Promise promise;
  if (service_class.deadline) promise.total_due = arrival + *service_class.deadline;
  if (service_class.ttft) promise.first_token_due = arrival + *service_class.ttft;
  if (service_class.tpot) promise.token_pace = *service_class.tpot;
  return promise;
}

// Rates in requests a second; two of them take turns.
struct Load {
  double rate = 1;
  double other_rate = 1;
  int seconds = 3'600;  // how long requests arrive
};

struct Source {
  const workload::Trace& trace;
  Load load;
  units::Prng prng;
  double now = 0;
  std::uint64_t next_id = 1;
  std::vector<domain::ServiceClass> classes = tiers();

  // An exponential gap at the present rate, from the beginning of a turn on where it would pass it.
  bool advance() {
    while (now < load.seconds) {
      const int turn = static_cast<int>(now) / kTurnSeconds;
      const double rate = turn % 2 == 0 ? load.rate : load.other_rate;
      const double uniform = (static_cast<double>(prng.below(1'000'000'000)) + 0.5) / 1e9;
      const double at = now - std::log(uniform) / rate;
      const double end = (turn + 1) * static_cast<double>(kTurnSeconds);
      now = std::min(at, end);
      if (at < end) return now < load.seconds;
    }
    return false;
  }

  std::optional<sim::WorldRequest> next() {
    if (!advance()) return std::nullopt;
    const workload::TraceRow& row = trace.rows[prng.below(trace.rows.size())];
    const domain::ServiceClass& service_class = classes[prng.below(classes.size())];
    sim::WorldRequest request;
    request.request.id = units::RequestId(next_id++);
    request.request.service_class = service_class.id;
    request.request.arrival = Instant(std::llround(now * 1e9));
    request.request.promise = promise_of(service_class, request.request.arrival);
    request.request.footprint.prompt = row.input;
    request.request.footprint.max_output = std::max(Tokens(2'048), row.output);
    request.output = row.output;
    return request;
  }
};

double broken(const std::string& policy, const workload::Trace& trace, const Load& load) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto source =
        std::make_shared<Source>(Source{.trace = trace, .load = load, .prng = units::Prng(seed)});
    sim::Simulator simulator(world_of(policy, seed, load.seconds),
                             [source] { return source->next(); }, {"m"});
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
