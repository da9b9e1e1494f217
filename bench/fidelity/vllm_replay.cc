// Replays the published vLLM benchmark runs (LLMServingSim, bench/examples: 300 ShareGPT requests
// at about 10 a second to a real vLLM 0.19) through the simulator with the vllm-v1 policy and the
// catalogue's step-time law, and prints the simulated means beside the measured ones.
//
// The law was fitted to decodes of equal length. Attention over unequal ones takes longer, as the
// longest keeps its part of the GPU busy when the others are done. SKEW.csv, the attention kernel's
// time for mixed lengths by the same authors, says how much: the median ratio over its points that
// are like the run (as many sequences, mean and spread of their lengths within a third of the
// run's). Simulated steps read KV memory that much more slowly; nothing is fitted to the run.
//
// The law also takes a step with prompts and decodes for the sum of its parts, as most of the
// catalogue was measured. One attention call over both takes longer. MIXED.csv, whole iterations by
// the same authors, says how much: the median of measured time less the law's over its points that
// are like the run (sequences and lengths as above, chunks within a third of the mean prompt).
// Simulated steps that have any prompt take that much longer.
//
//   vllm_replay REQUESTS RUN GPU MODEL KV_TOKENS MAX_SEQUENCES [SKEW [MIXED]]
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
#include "cost/step_law.h"
#include "sim/simulator.h"
#include "tables/csv.h"
#include "units/integer.h"

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
  std::string skew;
  std::string mixed;
};

// What the law leaves out, from measurements of its parts.
struct Corrections {
  units::Ppm attention{units::kMillion};  // over unequal lengths
  units::Nanos mixed{0};                  // of a step with prompts beside decodes
};

constexpr std::int64_t kStepTokens = 2'048;

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

// Mean, and standard deviation as a share of it.
struct Spread {
  double mean = 0;
  double relative = 0;
};

// Of the tokens that a running sequence holds halfway through its output.
Spread lengths_of(const std::vector<Measured>& rows) {
  double sum = 0;
  double squares = 0;
  for (const Measured& row : rows) {
    const double length = static_cast<double>(row.input) + static_cast<double>(row.output) / 2;
    sum += length;
    squares += length * length;
  }
  const auto count = static_cast<double>(rows.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean};
}

bool within_a_third(double value, double wanted) {
  return value >= wanted * 2 / 3 && value <= wanted * 4 / 3;
}

// A point of the table: `longer` of `sequences` hold `most` tokens, the others `least`.
struct SkewPoint {
  double sequences = 0;
  double longer = 0;
  double least = 0;
  double most = 0;
  double time = 0;
  double time_at_mean = 1;

  Spread lengths() const {
    const double share = longer / sequences;
    const double mean = least + share * (most - least);
    return {mean, (most - least) * std::sqrt(share * (1 - share)) / mean};
  }
};

// The named columns of every row of the setup's own run, which is named GPU/MODEL by the same
// authors and has one GPU.
units::Result<std::vector<std::vector<double>>> read_run(const Setup& setup,
                                                         const std::string& file,
                                                         const std::vector<std::string>& wanted) {
  auto csv = tables::Csv::open(file);
  if (!csv) return tl::unexpected(csv.error());
  std::vector<std::size_t> at;
  std::vector<std::string> names = {"gpu", "model", "tp"};
  names.insert(names.end(), wanted.begin(), wanted.end());
  for (const std::string& name : names) {
    const auto column = csv->require(name);
    if (!column) return tl::unexpected(column.error());
    at.push_back(*column);
  }
  std::vector<std::vector<double>> rows;
  while (true) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return rows;
    const std::string run = fmt::format("{}/{}", csv->text(at[0]), csv->text(at[1]));
    if (run != setup.run || csv->text(at[2]) != "1") continue;
    std::vector<double>& row = rows.emplace_back();
    for (std::size_t i = 3; i < at.size(); ++i) {
      const auto number = csv->number(at[i], 0, 1e9);
      if (!number) return tl::unexpected(number.error());
      row.push_back(*number);
    }
  }
}

units::Result<std::vector<SkewPoint>> read_skew(const Setup& setup) {
  const auto rows =
      read_run(setup, setup.skew, {"n", "nb", "kvs", "kv_big", "t_skew_us", "t_mean_us"});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<SkewPoint> points;
  for (const auto& row : *rows) points.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
  return points;
}

// As many sequences as memory holds of that length, at most as many as may run.
double residents(const Setup& setup, const Spread& lengths) {
  return std::min(static_cast<double>(setup.sequences),
                  static_cast<double>(setup.kv_tokens) / lengths.mean);
}

// How much longer attention takes than at equal lengths, in millionths.
units::Result<units::Ppm> slowdown_of(const Setup& setup, const std::vector<Measured>& rows) {
  if (setup.skew.empty()) return units::Ppm(units::kMillion);
  const auto points = read_skew(setup);
  if (!points) return tl::unexpected(points.error());
  const Spread wanted = lengths_of(rows);
  const double resident = residents(setup, wanted);
  std::vector<double> ratios;
  for (const SkewPoint& point : *points) {
    const Spread lengths = point.lengths();
    const bool alike = within_a_third(point.sequences, resident) &&
                       within_a_third(lengths.mean, wanted.mean) &&
                       within_a_third(lengths.relative, wanted.relative);
    if (alike) ratios.push_back(point.time / point.time_at_mean);
  }
  if (ratios.empty()) return units::error(setup.skew, "has no point like the run");
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[ratios.size() / 2];
  std::fputs(fmt::format("attention over unequal lengths: {:.3f} times, {} points\n", median,
                         ratios.size())
                 .c_str(),
             stdout);
  return units::Ppm(std::llround(median * 1e6));
}

units::Result<catalogue::Law> law_of(const Setup& setup) {
  const auto& catalogue = catalogue::Catalogue::bundled();
  const catalogue::Placement placement{.gpu = catalogue.gpu(setup.gpu),
                                       .model = catalogue.model(setup.model)};
  if (placement.gpu == nullptr || placement.model == nullptr) {
    return units::error("catalogue", "knows no " + setup.model + " on " + setup.gpu);
  }
  return catalogue.law(placement);
}

// A step of the profile: a chunk of one prompt beside decodes of equal length.
struct MixedPoint {
  double chunk = 0;
  double prior = 0;
  double decodes = 0;
  double context = 0;
  double time_ms = 0;

  cost::StepShape shape() const {
    cost::StepShape made;
    made.add_chunk(Tokens(std::llround(prior)), Tokens(std::llround(chunk)));
    made.decodes = std::llround(decodes);
    made.kv_tokens = std::llround(decodes * context);
    return made;
  }
};

units::Result<std::vector<MixedPoint>> read_mixed(const Setup& setup) {
  const auto rows = read_run(
      setup, setup.mixed,
      {"prefill_tokens", "prefill_prior_context", "decode_seqs", "decode_context", "time_ms"});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<MixedPoint> points;
  for (const auto& row : *rows) points.push_back({row[0], row[1], row[2], row[3], row[4]});
  return points;
}

double mean_prompt(const std::vector<Measured>& rows) {
  double sum = 0;
  for (const Measured& row : rows) sum += static_cast<double>(row.input);
  return sum / static_cast<double>(rows.size());
}

// How much longer a step with prompts beside decodes takes than the sum of its parts.
units::Result<units::Nanos> mixed_of(const Setup& setup, const std::vector<Measured>& rows) {
  if (setup.mixed.empty()) return units::Nanos(0);
  const auto law = law_of(setup);
  if (!law) return tl::unexpected(law.error());
  const auto points = read_mixed(setup);
  if (!points) return tl::unexpected(points.error());
  const Spread lengths = lengths_of(rows);
  const double prompt = mean_prompt(rows);
  std::vector<double> extra_ms;
  for (const MixedPoint& point : *points) {
    const bool alike = within_a_third(point.decodes, residents(setup, lengths)) &&
                       within_a_third(point.context, lengths.mean) &&
                       within_a_third(point.chunk, prompt) && point.prior <= prompt;
    if (!alike) continue;
    const auto predicted = cost::predict(law->coefficients, point.shape()).value();
    extra_ms.push_back(std::max(0.0, point.time_ms - static_cast<double>(predicted) / 1e6));
  }
  if (extra_ms.empty()) return units::error(setup.mixed, "has no point like the run");
  std::sort(extra_ms.begin(), extra_ms.end());
  const double median = extra_ms[extra_ms.size() / 2];
  std::fputs(
      fmt::format("prompts beside decodes: {:.2f} ms more, {} points\n", median, extra_ms.size())
          .c_str(),
      stdout);
  return units::Nanos(std::llround(median * 1e6));
}

units::Result<Corrections> corrections_of(const Setup& setup, const std::vector<Measured>& rows) {
  const auto attention = slowdown_of(setup, rows);
  if (!attention) return tl::unexpected(attention.error());
  const auto mixed = mixed_of(setup, rows);
  if (!mixed) return tl::unexpected(mixed.error());
  return Corrections{*attention, *mixed};
}

units::Result<sim::World> world_of(const Setup& setup, const Corrections& corrections) {
  const auto policy = baselines::policy("vllm-v1");
  const auto found = law_of(setup);
  if (!found) return tl::unexpected(found.error());
  const catalogue::Law& law = *found;
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
  engine.true_law.per_kv_token_fs = units::multiply_divide(
      law.coefficients.per_kv_token_fs, corrections.attention.value(), units::kMillion);
  engine.true_law.prefill_fs += corrections.mixed.value() * 1'000'000;
  engine.batch.spec.law = engine.true_law;
  engine.batch.spec.calibrated = true;
  engine.batch.spec.limits = {units::Blocks(setup.kv_tokens / 16), setup.sequences,
                              Tokens(kStepTokens), Tokens(setup.kv_tokens)};
  world.engines = {engine};
  world.horizon = units::seconds(3'600);
  std::fputs(fmt::format("{} on {}, {} law, {} KV tokens, {} sequences, {} tokens a step\n",
                         setup.model, setup.gpu, law.measured ? "fitted" : "roofline",
                         setup.kv_tokens, setup.sequences, kStepTokens)
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
  const auto corrections = rows ? corrections_of(setup, *rows) : tl::unexpected(rows.error());
  const auto world =
      corrections ? world_of(setup, *corrections) : tl::unexpected(corrections.error());
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
  if (argc < 7 || argc > 9) {
    std::fputs("vllm_replay REQUESTS RUN GPU MODEL KV_TOKENS MAX_SEQUENCES [SKEW [MIXED]]\n",
               stderr);
    return 2;
  }
  tidegate::Setup setup{
      argv[1], argv[2], argv[3], argv[4], std::atoll(argv[5]), std::atoll(argv[6]), "", ""};
  if (argc > 7) setup.skew = argv[7];
  if (argc > 8) setup.mixed = argv[8];
  return tidegate::replay(setup);
}
