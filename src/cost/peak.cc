#include "cost/peak.h"

#include <algorithm>

#include "units/integer.h"

namespace tidegate::cost {

using units::Tokens;

namespace {

// Largest r with r * r <= v, by Newton's method from above. REQUIRES: v >= 0.
std::int64_t integer_sqrt(std::int64_t v) {
  if (v < 2) return v;
  std::int64_t r = v / 2 + 1;
  for (std::int64_t next = (r + v / r) / 2; next < r; next = (r + v / r) / 2) r = next;
  return r;
}

bool longer_first(const Resident& a, const Resident& b) {
  if (a.remaining.mean != b.remaining.mean) return a.remaining.mean > b.remaining.mean;
  if (a.occupied != b.occupied) return a.occupied > b.occupied;
  return a.remaining.variance > b.remaining.variance;
}

}  // namespace

Tokens predicted_peak(std::span<Resident> residents, std::int64_t z_thousandths) {
  std::sort(residents.begin(), residents.end(), longer_first);
  Tokens peak(0);
  Tokens occupied(0);
  std::int64_t variance = 0;
  std::int64_t running = 0;
  for (const Resident& resident : residents) {
    running += 1;
    occupied += resident.occupied;
    variance = units::add_saturating(variance, resident.remaining.variance);
    const Tokens spread(units::multiply_divide(integer_sqrt(variance), z_thousandths, 1'000));
    peak = std::max(peak, occupied + resident.remaining.mean * running + spread);
  }
  return peak;
}

}  // namespace tidegate::cost
