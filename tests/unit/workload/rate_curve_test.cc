#include "workload/rate_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "units/prng.h"

namespace tidegate::workload {
namespace {

using units::Nanos;
using units::seconds;

struct Case {
  RateCurve curve;
  Nanos length;
  double ratio;
};

// Each shape, over whole and broken periods.
std::vector<Case> cases() {
  const Nanos day = seconds(86'400);
  return {{steady_curve(seconds(100)), seconds(100), 1},
          {square_curve(seconds(60), 4, seconds(600)), seconds(600), 4},
          {square_curve(seconds(60), 4, seconds(100)), seconds(100), 4},
          {diurnal_curve(day, 10, day), day, 10},
          {diurnal_curve(day, 10, seconds(100'000)), seconds(100'000), 10},
          {window_curve({seconds(30), seconds(10), 1, 8}, seconds(100)), seconds(100), 8},
          {window_curve({seconds(0), seconds(10), 1, 8}, seconds(100)), seconds(100), 8},
          {window_curve({seconds(95), seconds(10), 1, 8}, seconds(100)), seconds(100), 8}};
}

// The mean of the rate over the run is 1 for every shape, by the curve's own integral and by a sum
// of its rate over many points.
TEST(RateCurve, KeepsTheMean) {
  for (const Case& c : cases()) {
    const auto length = static_cast<double>(c.length.value());
    EXPECT_NEAR(c.curve.work(length) / length, 1, 1e-12);
    constexpr int kPoints = 100'000;
    double sum = 0;
    for (int i = 0; i < kPoints; ++i) sum += c.curve.rate(length * (i + 0.5) / kPoints);
    EXPECT_NEAR(sum / kPoints, 1, 1e-3);
  }
}

// Highest over lowest rate is the ratio asked for.
TEST(RateCurve, HasItsPeakToTrough) {
  for (const Case& c : cases()) {
    double low = 1e300;
    double high = 0;
    for (int i = 0; i < 10'000; ++i) {
      const double rate = c.curve.rate(static_cast<double>(c.length.value()) * i / 10'000);
      low = std::min(low, rate);
      high = std::max(high, rate);
    }
    EXPECT_NEAR(high / low, c.ratio, 0.01 * c.ratio);
  }
}

// Time and work undo each other and grow together.
TEST(RateCurve, IsInvertedExactly) {
  units::Prng prng(1);
  for (const Case& c : cases()) {
    const auto length = static_cast<double>(c.length.value());
    double last = 0;
    for (int i = 0; i < 1'000; ++i) {
      const double work = length * i / 1'000;
      const double time = c.curve.time(work);
      EXPECT_GE(time, last);
      EXPECT_NEAR(c.curve.work(time), work, length * 1e-12);
      last = time;
    }
  }
}

// A day of the sine: the half around noon carries 1/2 + a/pi of the work, where the amplitude a is
// (ratio - 1) / (ratio + 1); lines between 24 points come within 1 % of it.
TEST(RateCurve, DiurnalIsASine) {
  const double day = 86'400e9;
  const RateCurve curve = diurnal_curve(seconds(86'400), 10, seconds(86'400));
  const double noon = curve.work(day * 0.75) - curve.work(day * 0.25);
  const double a = 9.0 / 11;
  EXPECT_NEAR(noon / day, 0.5 + a / std::acos(-1.0), 0.01);
}

// Where the rate is 0 no work falls: the inverse jumps over it.
TEST(RateCurve, SkipsSilence) {
  const RateCurve curve = window_curve({seconds(40), seconds(20), 0, 1}, seconds(100));
  EXPECT_EQ(curve.work(40e9), 0);
  EXPECT_GE(curve.time(0), 40e9);
  EXPECT_LE(curve.time(99.999e9), 60e9);
}

}  // namespace
}  // namespace tidegate::workload
