// Arrivals of one client: a renewal process run in the work of a rate curve, whose rate also drifts
// from window to window. The drift is a lognormal AR(1) path, scaled so that the client's mean over
// the run is what was asked for (its own path sums to one). One owner.
#pragma once

#include <cstdint>

#include "units/prng.h"
#include "workload/rate_curve.h"
#include "workload/samplers.h"

namespace tidegate::workload {

struct ArrivalLaw {
  GapKind gap_kind = GapKind::kGamma;
  double gap_cv = 1;
  double drift_sigma = 0;   // of the logarithm of the rate from window to window; 0 is none
  double drift_memory = 0;  // correlation of one window with the next, in [0, 1)
  double drift_window_ns = 600e9;
};

struct ArrivalPlan {
  ArrivalLaw law;
  double mean_count = 1;   // arrivals over the run
  std::uint64_t seed = 0;  // of everything drawn
};

class Arrivals {
 public:
  // Over a run of `length`. The curve must outlive it. O(length / drift window).
  // REQUIRES: mean_count > 0.
  Arrivals(const RateCurve& curve, units::Nanos length, const ArrivalPlan& plan);

  // The next arrival in nanoseconds, not before the last; kNever after the run. O(windows passed).
  double next();
  // Arrivals per nanosecond of work at the start of the run.
  double first_rate() const { return first_rate_; }

  static constexpr double kNever = 1e300;

 private:
  void enter_window();

  const RateCurve* curve_;
  ArrivalLaw law_;
  GapLaw gaps_;
  units::Prng gap_prng_;
  units::Prng drift_prng_;
  double length_ns_;
  double level_ = 0;      // of the drift: standard normal
  double base_rate_ = 0;  // arrivals per work at drift 1
  double rate_ = 0;       // in this window
  double first_rate_ = 0;
  double work_ = 0;         // done so far
  double window_end_ = 0;   // in ns
  double window_work_ = 0;  // at its end
  bool started_ = false;
};

}  // namespace tidegate::workload
