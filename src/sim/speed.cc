#include "sim/speed.h"

#include <cmath>
#include <utility>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::sim {

domain::StepCoefficients stretched(const domain::StepCoefficients& law, units::Ppm factor) {
  TIDEGATE_CHECK(factor >= units::Ppm(0));
  const auto times = [factor](std::int64_t fs) {
    return units::multiply_divide(fs, factor.value(), units::kMillion);
  };
  domain::StepCoefficients made = law;
  made.base_fs = times(law.base_fs);
  for (std::int64_t& slope : made.per_token_fs) slope = times(slope);
  made.prefill_fs = times(law.prefill_fs);
  made.per_decode_fs = times(law.per_decode_fs);
  made.per_kv_token_fs = times(law.per_kv_token_fs);
  made.per_attention_fs = times(law.per_attention_fs);
  made.tile_fs = times(law.tile_fs);
  made.stray_fs = times(law.stray_fs);
  return made;
}

World with_speed(World world, double speed) {
  TIDEGATE_CHECK(speed > 0);
  const units::Ppm factor(std::llround(static_cast<double>(units::kMillion) / speed));
  for (EngineModel& engine : world.engines) {
    engine.true_law = stretched(engine.true_law, factor);
    engine.batch.spec.law = stretched(engine.batch.spec.law, factor);
  }
  return world;
}

}  // namespace tidegate::sim
