#include "cost/peak.h"

#include <algorithm>

#include "units/integer.h"
#include "units/square_root.h"

namespace tidegate::cost {

using units::Tokens;

bool longer_first(const Resident& a, const Resident& b) {
  if (a.remaining.mean != b.remaining.mean) return a.remaining.mean > b.remaining.mean;
  if (a.occupied != b.occupied) return a.occupied > b.occupied;
  return a.remaining.variance > b.remaining.variance;
}

// Most moments are far below the peak even with too large a spread, which spares them the root.
void PeakSweep::add(const Resident& next) {
  running_ += 1;
  occupied_ += next.occupied;
  variance_ = units::add_saturating(variance_, next.remaining.variance);
  const Tokens mean = occupied_ + next.remaining.mean * running_;
  const auto with_spread = [&](std::int64_t deviation) {
    return mean + Tokens(units::multiply_divide(deviation, z_thousandths_, 1'000));
  };
  if (with_spread(units::above_square_root(variance_)) <= peak_) return;
  peak_ = std::max(peak_, with_spread(units::square_root(variance_)));
}

Tokens predicted_peak(std::span<Resident> residents, std::int64_t z_thousandths) {
  std::sort(residents.begin(), residents.end(), longer_first);
  PeakSweep sweep(z_thousandths);
  for (const Resident& resident : residents) sweep.add(resident);
  return sweep.peak();
}

}  // namespace tidegate::cost
