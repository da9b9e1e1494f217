// Speed augmentation: how much faster the hardware would have to be for a policy that does not know
// the future to keep as many promises as the bound allows at the present speed.
// Source: Kalyanasundaram and Pruhs, "Speed is as powerful as clairvoyance", JACM 2000.
#pragma once

#include <functional>
#include <optional>

namespace tidegate::bounds {

struct SpeedSearch {
  double target = 1;        // the attainment to reach
  double fastest = 8;       // where the search gives up
  double tolerance = 0.01;  // of the speed
};

// The smallest speed factor found in [1, fastest] with attainment(speed) >= target, by bisection;
// nothing when even `fastest` does not reach it. attainment() must be a function of its argument;
// it should not fall with it: where it does, the result reaches the target but a smaller one might,
// too. Calls it 2 + log2((fastest - 1) / tolerance) times at most.
// REQUIRES: fastest >= 1, tolerance > 0.
std::optional<double> speed_to_match(const std::function<double(double speed)>& attainment,
                                     const SpeedSearch& search);

}  // namespace tidegate::bounds
