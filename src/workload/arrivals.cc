#include "workload/arrivals.h"

#include <algorithm>
#include <cmath>

#include "units/check.h"
#include "workload/exact_math.h"

namespace tidegate::workload {

namespace {

// The drift's next level; the first is drawn from where the path settles.
double next_level(double level, double memory, bool first, units::Prng& prng) {
  const double fresh = normal(prng);
  return first ? fresh : memory * level + std::sqrt(1 - memory * memory) * fresh;
}

}  // namespace

Arrivals::Arrivals(const RateCurve& curve, units::Nanos length, const ArrivalPlan& plan)
    : curve_(&curve),
      law_(plan.law),
      gaps_(plan.law.gap_kind, plan.law.gap_cv),
      gap_prng_(plan.seed),
      drift_prng_(plan.seed ^ 0x6472696674ULL),
      length_ns_(static_cast<double>(length.value())) {
  TIDEGATE_CHECK(plan.mean_count > 0);
  if (law_.drift_sigma <= 0) law_.drift_window_ns = length_ns_;
  // A first walk over the path for its sum; the second, in next(), draws the same path again.
  units::Prng walk = drift_prng_;
  double level = 0;
  double before = 0;
  double sum = 0;
  for (double begin = 0; begin < length_ns_; begin += law_.drift_window_ns) {
    level = next_level(level, law_.drift_memory, begin == 0, walk);
    const double after = curve.work(std::min(begin + law_.drift_window_ns, length_ns_));
    sum += exact_exp(law_.drift_sigma * level) * (after - before);
    before = after;
  }
  base_rate_ = plan.mean_count / sum;
  enter_window();
  first_rate_ = rate_;
}

void Arrivals::enter_window() {
  level_ = next_level(level_, law_.drift_memory, window_end_ == 0, drift_prng_);
  rate_ = base_rate_ * exact_exp(law_.drift_sigma * level_);
  window_end_ = std::min(window_end_ + law_.drift_window_ns, length_ns_);
  window_work_ = curve_->work(window_end_);
}

double Arrivals::next() {
  double gap = started_ ? gaps_.draw(gap_prng_) : gaps_.draw_first(gap_prng_);
  started_ = true;
  while (gap > (window_work_ - work_) * rate_) {
    if (window_end_ >= length_ns_) return kNever;
    gap -= (window_work_ - work_) * rate_;
    work_ = window_work_;
    enter_window();
  }
  work_ += gap / rate_;
  return curve_->time(work_);
}

}  // namespace tidegate::workload
