// Random variates from the house's own generator: uniform, exponential, normal, gamma, and the unit
// mean gaps of a renewal process. The standard library's distributions are left out because each
// library has its own. Pure values; the caller owns the generator.
#pragma once

#include <cstdint>

#include "units/prng.h"

namespace tidegate::workload {

// Uniform in (0, 1), both ends excluded: the middles of 2^52 equal cells.
double uniform(units::Prng& prng);
// Mean 1, by inversion.
double exponential(units::Prng& prng);
// Mean 0, deviation 1, by inversion.
double normal(units::Prng& prng);
// Of the given shape and scale 1 (Marsaglia and Tsang, 2000; below shape 1 with their boost).
// REQUIRES: shape > 0.
double gamma(units::Prng& prng, double shape);

enum class GapKind : std::uint8_t { kGamma, kWeibull };

// Gaps between the arrivals of one client, as multiples of their mean. Deviation over mean is `cv`:
// 1 is a Poisson process, more is bursts, less is a metronome.
class GapLaw {
 public:
  // REQUIRES: kLowestCv <= cv <= kHighestCv.
  GapLaw(GapKind kind, double cv);

  // A gap from one arrival to the next.
  double draw(units::Prng& prng) const;
  // From an arbitrary instant to the next arrival: the equilibrium law (Cox, "Renewal Theory",
  // 1962), a uniform part of a gap chosen in proportion to its length. Starting with it makes the
  // expected number of arrivals exact from the first moment on.
  double draw_first(units::Prng& prng) const;

  static constexpr double kLowestCv = 0.05;
  static constexpr double kHighestCv = 30;

 private:
  GapKind kind_;
  double shape_;
  double scale_;
};

}  // namespace tidegate::workload
