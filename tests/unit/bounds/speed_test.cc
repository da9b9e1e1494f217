#include "bounds/speed.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tidegate::bounds {
namespace {

double saturating(double speed) {
  return std::min(1.0, speed / 2.5);
}

// The factor found is the crossing point, to the tolerance, and reaches the target.
TEST(SpeedToMatch, FindsTheCrossing) {
  const auto speed = speed_to_match(saturating, {.target = 0.8});
  ASSERT_TRUE(speed.has_value());
  EXPECT_GE(saturating(*speed), 0.8);
  EXPECT_NEAR(*speed, 2.0, 0.01);
}

// A policy that is good enough needs no faster hardware.
TEST(SpeedToMatch, OneWhenNothingIsMissing) {
  EXPECT_EQ(speed_to_match(saturating, {.target = 0.4}), 1.0);
}

// Out of reach is said, not guessed.
TEST(SpeedToMatch, NothingWhenOutOfReach) {
  EXPECT_FALSE(speed_to_match(saturating, {.target = 0.9, .fastest = 2}).has_value());
}

}  // namespace
}  // namespace tidegate::bounds
