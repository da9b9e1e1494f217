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

// The order of the sweep: longest remaining first; equals by what they hold.
bool longer_first(const Resident& a, const Resident& b);

// The peak of residents that are added one by one, for a caller who keeps them sorted.
class PeakSweep {
 public:
  // z in thousandths (1'650 = 1.65). REQUIRES: z_thousandths >= 0.
  explicit PeakSweep(std::int64_t z_thousandths) : z_thousandths_(z_thousandths) {}

  // REQUIRES: nobody that goes before `next` (longer_first) is still to come.
  void add(const Resident& next);
  units::Tokens peak() const { return peak_; }

 private:
  std::int64_t z_thousandths_;
  std::int64_t running_ = 0;
  std::int64_t variance_ = 0;
  units::Tokens occupied_{0};
  units::Tokens peak_{0};
};

// Expected peak in tokens plus z standard deviations, z in thousandths (1'650 = 1.65). The variance
// of each moment is that of the sequences that run then. Sorts `residents`: O(n log n).
// REQUIRES: z_thousandths >= 0.
units::Tokens predicted_peak(std::span<Resident> residents, std::int64_t z_thousandths);

}  // namespace tidegate::cost
