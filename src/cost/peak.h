// The peak of KV memory over time for a set of running sequences, from what each is still expected
// to produce. Source: Past-Future scheduler (Gong et al., ASPLOS 2025).
//
// Sort by remaining tokens, longest first. When sequence i (1-based) ends, sequences 1..i still
// run, each grown by rem_i; the need at that moment is sum(occupied_1..i) + rem_i * i. The peak is
// the largest of these moments and of now. Pure; works on a caller's scratch, no allocation.
#pragma once

#include <cstdint>
#include <span>

#include "cost/length_forecast.h"
#include "units/quantity.h"

namespace tidegate::cost {

struct Resident {
  units::Tokens occupied{0};  // tokens held now (or to be held once its prompt is in)
  Remaining remaining;        // still to come
};

// Expected peak in tokens plus z standard deviations, z in thousandths (1'650 = 1.65). The variance
// of each moment is that of the sequences that run then. Sorts `residents`: O(n log n).
units::Tokens predicted_peak(std::span<Resident> residents, std::int64_t z_thousandths);

}  // namespace tidegate::cost
