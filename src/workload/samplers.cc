#include "workload/samplers.h"

#include <cmath>

#include "units/check.h"
#include "workload/exact_math.h"

namespace tidegate::workload {

namespace {

// log(1 + cv^2) of a Weibull law, which falls as the shape grows.
double weibull_spread(double shape) {
  return log_gamma(1 + 2 / shape) - 2 * log_gamma(1 + 1 / shape);
}

// The shape of the Weibull law with the given cv, by bisection on its logarithm.
double weibull_shape(double cv) {
  const double wanted = exact_log(1 + cv * cv);
  double low = 0.05;
  double high = 50;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (weibull_spread(middle) > wanted ? low : high) = middle;
  }
  return low;
}

double gamma_of_shape_from_one(units::Prng& prng, double shape) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(prng);
    const double base = 1 + c * x;
    if (base <= 0) continue;
    const double v = base * base * base;
    if (exact_log(uniform(prng)) < x * x / 2 + d - d * v + d * exact_log(v)) return d * v;
  }
}

}  // namespace

double uniform(units::Prng& prng) {
  return (static_cast<double>(prng.next() >> 12) + 0.5) * 0x1p-52;
}

double exponential(units::Prng& prng) {
  return -exact_log(uniform(prng));
}

double normal(units::Prng& prng) {
  return normal_quantile(uniform(prng));
}

double gamma(units::Prng& prng, double shape) {
  TIDEGATE_CHECK(shape > 0);
  if (shape >= 1) return gamma_of_shape_from_one(prng, shape);
  const double boost = exact_power(uniform(prng), 1 / shape);
  return gamma_of_shape_from_one(prng, shape + 1) * boost;
}

GapLaw::GapLaw(GapKind kind, double cv) : kind_(kind), shape_(1), scale_(1) {
  TIDEGATE_CHECK(cv >= kLowestCv && cv <= kHighestCv);
  if (kind_ == GapKind::kGamma) {
    shape_ = 1 / (cv * cv);
    scale_ = cv * cv;
  } else {
    shape_ = weibull_shape(cv);
    scale_ = exact_exp(-log_gamma(1 + 1 / shape_));
  }
}

double GapLaw::draw(units::Prng& prng) const {
  if (kind_ == GapKind::kGamma) return gamma(prng, shape_) * scale_;
  return exact_power(exponential(prng), 1 / shape_) * scale_;
}

double GapLaw::draw_first(units::Prng& prng) const {
  // A gap in proportion to its length: one more in shape for the gamma law; for Weibull's, x^shape
  // has a gamma law of shape 1 + 1/shape.
  const double whole = kind_ == GapKind::kGamma
                           ? gamma(prng, shape_ + 1) * scale_
                           : exact_power(gamma(prng, 1 + 1 / shape_), 1 / shape_) * scale_;
  return uniform(prng) * whole;
}

}  // namespace tidegate::workload
