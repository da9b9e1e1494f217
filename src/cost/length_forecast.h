// Conditioning an output-length forecast on what was already produced: the survival function of the
// footprint, seen from token k onwards. Pure functions over domain::LengthForecast.
#pragma once

#include "domain/footprint.h"
#include "units/quantity.h"

namespace tidegate::cost {

// The mean and the variance of what is still to come, in tokens and tokens^2.
struct Remaining {
  units::Tokens mean{0};
  std::int64_t variance = 0;
};

// Output still expected after `produced` tokens, given that the request is still running: over the
// points longer than `produced`. Past the last point the request is assumed to go on for half of
// what it has produced, at most to the maximum (a heavy tail, never "about to end").
// At least 1 token while produced < max_output; 0 from there on. REQUIRES: produced >= 0.
Remaining remaining(const domain::Footprint& footprint, units::Tokens produced);

// A forecast that expects exactly `length` tokens (for oracles and tests).
// REQUIRES: length >= 1.
domain::LengthForecast certain(units::Tokens length);

// A forecast without any history: lengths spread evenly over [1, max_output], no longer than `cap`.
domain::LengthForecast uninformed(units::Tokens max_output, units::Tokens cap);

}  // namespace tidegate::cost
