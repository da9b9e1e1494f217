#include "bounds/speed.h"

#include "units/check.h"

namespace tidegate::bounds {

std::optional<double> speed_to_match(const std::function<double(double speed)>& attainment,
                                     const SpeedSearch& search) {
  TIDEGATE_CHECK(search.fastest >= 1 && search.tolerance > 0);
  if (attainment(1) >= search.target) return 1.0;
  if (attainment(search.fastest) < search.target) return std::nullopt;
  double slow = 1;
  double fast = search.fastest;
  while (fast - slow > search.tolerance) {
    const double middle = (slow + fast) / 2;
    (attainment(middle) >= search.target ? fast : slow) = middle;
  }
  return fast;
}

}  // namespace tidegate::bounds
