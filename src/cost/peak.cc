#include "cost/peak.h"

#include <algorithm>
#include <bit>

#include "units/integer.h"

namespace tidegate::cost {

using units::Tokens;

namespace {

// A power of two whose square is above v, at most twice the root of v. REQUIRES: v >= 0.
std::int64_t above_sqrt(std::int64_t v) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(v)));
  return std::int64_t{1} << ((bits + 1) / 2);
}

// Largest r with r * r <= v, by Newton's method from above. REQUIRES: v >= 0.
std::int64_t integer_sqrt(std::int64_t v) {
  if (v < 2) return v;
  std::int64_t r = above_sqrt(v);
  for (std::int64_t next = (r + v / r) / 2; next < r; next = (r + v / r) / 2) r = next;
  return r;
}

}  // namespace

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
  if (with_spread(above_sqrt(variance_)) <= peak_) return;
  peak_ = std::max(peak_, with_spread(integer_sqrt(variance_)));
}

Tokens predicted_peak(std::span<Resident> residents, std::int64_t z_thousandths) {
  std::sort(residents.begin(), residents.end(), longer_first);
  PeakSweep sweep(z_thousandths);
  for (const Resident& resident : residents) sweep.add(resident);
  return sweep.peak();
}

}  // namespace tidegate::cost
