#include "cost/kv_law.h"

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::cost {

units::Blocks blocks_for(const domain::KvShape& shape, units::Tokens tokens) {
  TIDEGATE_CHECK(tokens.value() >= 0 && shape.block_tokens.value() > 0);
  return shape.per_sequence +
         units::Blocks(units::divide_up(tokens.value(), shape.block_tokens.value()));
}

// blocks_for(longest) <= kv_blocks, without the division: ceil(t / b) <= n iff t <= n * b.
bool can_ever_fit(const domain::EngineSpec& engine, const domain::Footprint& footprint) {
  const units::Tokens longest = footprint.prompt + footprint.max_output;
  const domain::EngineLimits& limits = engine.limits;
  if (limits.max_sequences <= 0 || limits.max_step_tokens.value() <= 0) return false;
  if (longest > limits.max_context || engine.kv.per_sequence > limits.kv_blocks) return false;
  TIDEGATE_CHECK(longest.value() >= 0 && engine.kv.block_tokens.value() > 0);
  const std::int64_t room = (limits.kv_blocks - engine.kv.per_sequence).value();
  return longest.value() <= units::multiply_saturating(room, engine.kv.block_tokens.value());
}

}  // namespace tidegate::cost
