// Hardware that is faster or slower by a factor, everything else alike: the same engines with every
// coefficient of their laws multiplied. For speed augmentation (docs/bounds.md) and for engines
// whose law was learned as a correction of a measured one. Pure.
#pragma once

#include "domain/engine_spec.h"
#include "sim/world.h"
#include "units/quantity.h"

namespace tidegate::sim {

// The law of steps that take `factor` times as long. REQUIRES: factor >= 0.
domain::StepCoefficients stretched(const domain::StepCoefficients& law, units::Ppm factor);

// The world with engines that are `speed` times as fast, and schedulers that know it: 2 halves all
// times. Dispatch and telemetry stay as they are. REQUIRES: speed > 0.
World with_speed(World world, double speed);

}  // namespace tidegate::sim
