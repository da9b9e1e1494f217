// Replays the published vLLM benchmark runs (LLMServingSim, bench/examples: 300 ShareGPT requests
// at about 10 a second to a real vLLM 0.19) through the simulator with the vllm-v1 policy and the
// catalogue's step-time law, and prints the simulated means beside the measured ones.
//
//   vllm_replay REQUESTS.csv[.gz] RUN GPU MODEL KV_TOKENS MAX_SEQUENCES [STEP_TOKENS]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "baselines/registry.h"
#include "catalogue/catalogue.h"
#include "sim/simulator.h"
#include "tables/csv.h"

namespace tidegate {
namespace {

using units::Instant;
using units::Tokens;

struct Measured {
  Instant arrival;
  std::int64_t input = 0;
  std::int64_t output = 0;
  double ttft = 0;
  double e2e = 0;
  double tpot = 0;
};

struct Means {
  double ttft = 0;
  double e2e = 0;
  double tpot = 0;

  void add(double first, double whole, double pace) {
    ttft += first;
    e2e += whole;
    tpot += pace;
  }
};

struct Setup {
  std::string requests;
  std::string run;
  std::string gpu;
  std::string model;
  std::int64_t kv_tokens = 0;
  std::int64_t sequences = 0;
  std::int64_t step_tokens = 2'048;
};

units::Result<std::vector<Measured>> read_requests(const Setup& setup) {
  auto csv = tables::Csv::open(setup.requests);
  if (!csv) return tl::unexpected(csv.error());
  std::map<std::string, std::size_t> at;
  for (const char* name :
       {"run", "arrival_seconds", "input_tokens", "output_tokens", "ttft_s", "e2e_s", "tpot_s"}) {
    const auto column = csv->require(name);
    if (!column) return tl::unexpected(column.error());
    at[name] = *column;
  }
  std::vector<Measured> rows;
  while (true) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if (csv->text(at["run"]) != setup.run) continue;
    const auto number = [&](const char* name) { return csv->number(at[name], 0, 1e9).value_or(0); };
    rows.push_back({.arrival = Instant(std::llround(number("arrival_seconds") * 1e9)),
                    .input = std::llround(number("input_tokens")),
                    .output = std::llround(number("output_tokens")),
                    .ttft = number("ttft_s"),
                    .e2e = number("e2e_s"),
                    .tpot = number("tpot_s")});
  }
  if (rows.empty()) return units::error(setup.requests, "no rows of the run '" + setup.run + "'");
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Measured& a, const Measured& b) { return a.arrival < b.arrival; });
  return rows;
}

units::Result<sim::World> world_of(const Setup& setup) {
  const auto& catalogue = catalogue::Catalogue::bundled();
  const catalogue::Placement placement{.gpu = catalogue.gpu(setup.gpu),
                                       .model = catalogue.model(setup.model)};
  if (placement.gpu == nullptr || placement.model == nullptr) {
    return units::error("catalogue", "knows no " + setup.model + " on " + setup.gpu);
  }
  const auto policy = baselines::policy("vllm-v1");
  const catalogue::Law law = catalogue.law(placement);
  sim::World world;
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  domain::ServiceClass any;
  any.best_effort = true;
  world.pool.classes = {any};
  world.pool.tenants = {domain::Tenant{}};
  world.pool.models = {units::ModelId(0)};
  sim::EngineModel engine;
  engine.gpu = setup.gpu;
  engine.true_law = law.coefficients;
  engine.batch.spec.law = law.coefficients;
  engine.batch.spec.calibrated = true;
  engine.batch.spec.limits = {units::Blocks(setup.kv_tokens / 16), setup.sequences,
                              Tokens(setup.step_tokens), Tokens(setup.kv_tokens)};
  world.engines = {engine};
  world.horizon = units::seconds(3'600);
  std::fputs(fmt::format("{} on {}, {} law, {} KV tokens, {} sequences, {} tokens a step\n",
                         setup.model, setup.gpu, law.measured ? "fitted" : "roofline",
                         setup.kv_tokens, setup.sequences, setup.step_tokens)
                 .c_str(),
             stdout);
  return world;
}

sim::Arrivals arrivals_of(const std::vector<Measured>& rows) {
  return [&rows, next = std::size_t{0}]() mutable -> std::optional<sim::WorldRequest> {
    if (next == rows.size()) return std::nullopt;
    const Measured& row = rows[next++];
    sim::WorldRequest request;
    request.request.id = units::RequestId(next);
    request.request.arrival = row.arrival;
    request.request.footprint.prompt = Tokens(row.input);
    request.request.footprint.max_output = Tokens(row.output);
    request.output = Tokens(row.output);
    return request;
  };
}

Means simulate(const sim::World& world, const std::vector<Measured>& rows) {
  std::map<std::uint64_t, std::pair<Instant, Instant>> times;  // first and last token
  sim::Simulator simulator(world, arrivals_of(rows), {"m"});
  simulator.observe([&](const auto&, const domain::Event& event, const auto&, Instant now) {
    const auto* produced = std::get_if<domain::TokensProduced>(&event);
    if (produced == nullptr) return;
    times.try_emplace(produced->ref.request.value(), now, now).first->second.second = now;
  });
  const report::Run run = simulator.run();
  Means means;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [first, last] = times.at(i + 1);
    const auto seconds = [](units::Nanos span) { return static_cast<double>(span.value()) / 1e9; };
    const double steps = static_cast<double>(std::max<std::int64_t>(1, rows[i].output - 1));
    means.add(seconds(first - rows[i].arrival), seconds(last - rows[i].arrival),
              seconds(last - first) / steps);
  }
  std::fputs(
      fmt::format("{} preemptions in {} steps\n", run.totals.preemptions, run.engine_steps).c_str(),
      stdout);
  return means;
}

void print_row(const char* name, double simulated, double measured) {
  std::fputs(fmt::format("{:<6}{:>12.4f}{:>12.4f}{:>+9.1f} %\n", name, simulated, measured,
                         100 * (simulated / measured - 1))
                 .c_str(),
             stdout);
}

int replay(const Setup& setup) {
  const auto rows = read_requests(setup);
  const auto world = rows ? world_of(setup) : tl::unexpected(rows.error());
  if (!world) {
    std::fputs((world.error().where + ": " + world.error().message + "\n").c_str(), stderr);
    return 2;
  }
  const Means simulated = simulate(*world, *rows);
  Means measured;
  for (const Measured& row : *rows) measured.add(row.ttft, row.e2e, row.tpot);
  const auto count = static_cast<double>(rows->size());
  std::fputs("mean, s   simulated    measured     error\n", stdout);
  print_row("TTFT", simulated.ttft / count, measured.ttft / count);
  print_row("e2e", simulated.e2e / count, measured.e2e / count);
  print_row("TPOT", simulated.tpot / count, measured.tpot / count);
  return 0;
}

}  // namespace
}  // namespace tidegate

int main(int argc, char** argv) {
  if (argc < 7 || argc > 8) {
    std::fputs("vllm_replay REQUESTS RUN GPU MODEL KV_TOKENS MAX_SEQUENCES [STEP_TOKENS]\n",
               stderr);
    return 2;
  }
  tidegate::Setup setup{
      argv[1], argv[2], argv[3], argv[4], std::atoll(argv[5]), std::atoll(argv[6])};
  if (argc == 8) setup.step_tokens = std::atoll(argv[7]);
  return tidegate::replay(setup);
}
