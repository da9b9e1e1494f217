// How the rate of a workload moves over a run, as pieces on which it is linear, and the map between
// time and work: W(t), the integral of the rate from 0 to t. A renewal process run in W instead of
// t has the wanted rate at every moment and keeps its variability (time rescaling; Cinlar, 1975). A
// curve is scaled so that W(length) = length, so no shape changes the mean. Immutable value.
#pragma once

#include <vector>

#include "units/quantity.h"

namespace tidegate::workload {

class RateCurve {
 public:
  // From `begin` to `end`, in nanoseconds, the relative rate goes in a line from `from` to `to`.
  struct Piece {
    double begin = 0;
    double end = 0;
    double from = 1;
    double to = 1;
  };

  // Repeats the pieces, which cover one period without a gap, over the length of the run.
  // REQUIRES: pieces not empty, rates >= 0, and some rate > 0 before `length`.
  RateCurve(std::vector<Piece> pieces, units::Nanos length);

  // Work done by `t`. REQUIRES: t >= 0. O(log pieces).
  double work(double t) const;
  // The earliest time after which the work exceeds `work`. REQUIRES: work >= 0.
  double time(double work) const;
  // Rate at `t` over the mean of the run. REQUIRES: t >= 0.
  double rate(double t) const;

 private:
  double period() const { return pieces_.back().end; }
  std::size_t piece_at(double t) const;

  std::vector<Piece> pieces_;  // scaled
  std::vector<double> done_;   // work at the begin of each piece; one more for the period's end
};

// Curves of the shapes of generator.h. The ratio is peak over trough.
RateCurve steady_curve(units::Nanos length);
RateCurve square_curve(units::Nanos period, double ratio, units::Nanos length);
// The sine by 24 lines a period; their ends are on the sine, so peak and trough are exact.
RateCurve diurnal_curve(units::Nanos period, double ratio, units::Nanos length);
// `low` outside of [begin, begin + duration), `high` inside.
// REQUIRES: 0 <= begin, 0 < duration, begin < length.
struct Window {
  units::Nanos begin{0};
  units::Nanos duration{0};
  double low = 1;
  double high = 1;
};
RateCurve window_curve(const Window& window, units::Nanos length);

}  // namespace tidegate::workload
