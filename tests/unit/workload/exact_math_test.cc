#include "workload/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidegate::workload {
namespace {

// Over the whole range, logarithm and exponential are those of the C library to its last places.
TEST(ExactMath, AgreesWithTheLibrary) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(exact_log(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
  for (double x = -699; x < 699; x += 0.731) {
    EXPECT_NEAR(exact_exp(x) / std::exp(x), 1, 1e-15) << x;
  }
  EXPECT_EQ(exact_log(1), 0);
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_exp(-1e9), 0);
  EXPECT_NEAR(exact_power(2, 0.5), std::sqrt(2.0), 1e-15);
}

// Gamma(n) is (n-1)!, and Gamma(1/2) the root of pi.
TEST(ExactMath, KnowsTheGammaFunction) {
  EXPECT_NEAR(log_gamma(1), 0, 1e-12);
  EXPECT_NEAR(log_gamma(6), std::log(120.0), 1e-12);
  EXPECT_NEAR(log_gamma(0.5), std::log(std::acos(-1.0)) / 2, 1e-12);
  EXPECT_NEAR(log_gamma(100), std::lgamma(100.0), 1e-10);
}

// The normal distribution has its printed quantiles (Abramowitz and Stegun, table 26.1), and its
// two functions undo each other.
TEST(ExactMath, KnowsTheNormalDistribution) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.999), 3.090232306167813, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
  for (double u = 0.001; u < 1; u += 0.007) {
    EXPECT_NEAR(normal_below(normal_quantile(u)), u, 1e-7) << u;
  }
}

}  // namespace
}  // namespace tidegate::workload
