#include "scenario/engine_model.h"

#include <algorithm>
#include <cmath>

#include "catalogue/memory.h"

namespace tidegate::scenario {
namespace {

constexpr units::Tokens kShortestUseful{2'048};

}  // namespace

catalogue::Placement placement_of(const config::ScenarioConfig& config, std::size_t model,
                                  std::size_t gpu) {
  const auto& facts = catalogue::Catalogue::bundled();
  const config::ScenarioModel& wanted = config.models[model];
  return {facts.gpu(config.gpus[gpu].catalogue), facts.model(wanted.catalogue),
          wanted.fp8 ? catalogue::Dtype::kFp8 : catalogue::Dtype::kBfloat16,
          wanted.tensor_parallel};
}

std::optional<sim::EngineModel> engine_model(const config::ScenarioConfig& config,
                                             std::size_t model, std::size_t gpu) {
  const config::ScenarioModel& wanted = config.models[model];
  const catalogue::Placement placement = placement_of(config, model, gpu);
  const units::Blocks blocks = catalogue::kv_blocks(placement, kBlockTokens, kMemoryUse);
  const units::Tokens held = kBlockTokens * blocks.value();
  const units::Tokens context = std::min(placement.model->max_context, held);
  if (held < std::min(kShortestUseful, placement.model->max_context)) return std::nullopt;
  sim::EngineModel engine;
  engine.gpu = config.gpus[gpu].name;
  engine.true_law = catalogue::Catalogue::bundled().law(placement).coefficients;
  domain::EngineSpec& spec = engine.batch.spec;
  spec.model = wanted.id;
  spec.limits = {blocks, wanted.max_sequences, wanted.max_step_tokens, context};
  spec.kv.block_tokens = kBlockTokens;
  spec.law = engine.true_law;
  spec.calibrated = true;
  engine.batch.retained_slots = wanted.max_sequences;
  return engine;
}

units::Tokens longest_context(const config::ScenarioConfig& config, std::size_t model) {
  units::Tokens longest(0);
  for (const config::PoolEntry& entry : config.pool) {
    const auto engine = engine_model(config, model, entry.gpu);
    if (engine) longest = std::max(longest, engine->batch.spec.limits.max_context);
  }
  return longest;
}

units::Nanos start_time(const config::ScenarioConfig& config, std::size_t model) {
  const config::ScenarioModel& wanted = config.models[model];
  const double bf16_gb = catalogue::Catalogue::bundled().model(wanted.catalogue)->weights_gb;
  const double gb = bf16_gb * (wanted.fp8 ? 0.5 : 1) / static_cast<double>(wanted.tensor_parallel);
  const double seconds = gb / static_cast<double>(config.run.load_gb_per_s);
  return config.run.engine_start + units::Nanos(std::llround(seconds * 1e9));
}

}  // namespace tidegate::scenario
