#include "scenario/demand.h"

#include <algorithm>

#include "cost/step_law.h"

namespace tidegate::scenario {
namespace {

constexpr std::int64_t kChunk = 2'048;
constexpr std::int64_t kBatch = 64;

}  // namespace

std::vector<Demand> measure(const sim::Arrivals& arrivals, std::size_t models,
                            units::Nanos horizon) {
  std::vector<Demand> demands(models);
  const units::Instant end = units::Instant(0) + horizon;
  for (auto next = arrivals(); next && next->request.arrival < end; next = arrivals()) {
    Demand& demand = demands[next->request.model.value()];
    const auto prompt = static_cast<double>(next->request.footprint.prompt.value());
    const auto output = static_cast<double>(next->output.value());
    demand.requests += 1;
    demand.prompt_tokens += prompt;
    demand.output_tokens += output;
    demand.context_tokens += output * (prompt + output / 2);
  }
  return demands;
}

double engines_needed(const Demand& demand, const sim::EngineModel& engine, units::Nanos horizon) {
  if (demand.requests == 0 || horizon <= units::Nanos(0)) return 0;
  const domain::StepCoefficients& law = engine.true_law;
  cost::StepShape prefill;
  prefill.add_chunk(units::Tokens(0), units::Tokens(kChunk));
  const double per_prompt_token =
      static_cast<double>(cost::predict(law, prefill).value()) / static_cast<double>(kChunk);
  const double output = std::max(demand.output_tokens, 1.0);
  const auto context = static_cast<std::int64_t>(std::max(1.0, demand.context_tokens / output));
  const domain::EngineSpec& spec = engine.batch.spec;
  const std::int64_t held = spec.limits.kv_blocks.value() * spec.kv.block_tokens.value() / context;
  const std::int64_t batch = std::clamp<std::int64_t>(held, 1, kBatch);
  cost::StepShape decode;
  for (std::int64_t i = 0; i < batch; ++i) decode.add_decode(units::Tokens(context));
  const double per_output_token =
      static_cast<double>(cost::predict(law, decode).value()) / static_cast<double>(batch);
  const double busy =
      demand.prompt_tokens * per_prompt_token + demand.output_tokens * per_output_token;
  return busy / static_cast<double>(horizon.value());
}

}  // namespace tidegate::scenario
