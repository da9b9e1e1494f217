#include "cost/kv_law.h"

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::cost {

units::Blocks blocks_for(const domain::KvShape& shape, units::Tokens tokens) {
  TIDEGATE_CHECK(tokens.value() >= 0 && shape.block_tokens.value() > 0);
  return shape.per_sequence +
         units::Blocks(units::divide_up(tokens.value(), shape.block_tokens.value()));
}

bool can_ever_fit(const domain::EngineSpec& engine, const domain::Footprint& footprint) {
  const units::Tokens longest = footprint.prompt + footprint.max_output;
  return engine.limits.max_sequences > 0 && engine.limits.max_step_tokens.value() > 0 &&
         longest <= engine.limits.max_context &&
         blocks_for(engine.kv, longest) <= engine.limits.kv_blocks;
}

}  // namespace tidegate::cost
