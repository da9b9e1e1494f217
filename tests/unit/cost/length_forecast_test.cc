#include "cost/length_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "units/prng.h"

namespace tidegate::cost {
namespace {

using units::Prng;
using units::Tokens;

domain::Footprint random_footprint(Prng& prng) {
  domain::Footprint footprint;
  footprint.max_output = Tokens(prng.between(1, 4'000));
  for (auto& length : footprint.output.lengths) {
    length = Tokens(prng.between(1, footprint.max_output.value()));
  }
  std::ranges::sort(footprint.output.lengths);
  return footprint;
}

// Law: what remains is the mean (rounded up) and the variance of the points beyond what was
// produced, each minus what was produced: the conditional distribution given "still running".
TEST(Remaining, IsTheConditionalMeanAndVariance) {
  Prng prng(21);
  for (int i = 0; i < 5'000; ++i) {
    const domain::Footprint footprint = random_footprint(prng);
    const std::int64_t produced = prng.between(0, footprint.output.lengths.back().value() - 1);
    long double sum = 0;
    long double squares = 0;
    long double count = 0;
    for (const Tokens length : footprint.output.lengths) {
      if (length.value() <= produced) continue;
      const auto rest = static_cast<long double>(length.value() - produced);
      sum += rest;
      squares += rest * rest;
      count += 1;
    }
    const Remaining got = remaining(footprint, Tokens(produced));
    ASSERT_EQ(got.mean.value(), static_cast<std::int64_t>(std::ceil(sum / count - 1e-12L)));
    const long double mean = sum / count;
    ASSERT_NEAR(static_cast<double>(got.variance),
                static_cast<double>(squares / count - mean * mean), 1.001);
  }
}

// Law: a running request always has at least one token to go and never more than its limit leaves;
// at the limit it has none.
TEST(Remaining, StaysBetweenOneAndTheLimit) {
  Prng prng(22);
  for (int i = 0; i < 500; ++i) {
    const domain::Footprint footprint = random_footprint(prng);
    const std::int64_t max = footprint.max_output.value();
    for (int j = 0; j < 50; ++j) {
      const std::int64_t produced = prng.between(0, max - 1);
      const Remaining got = remaining(footprint, Tokens(produced));
      ASSERT_GE(got.mean.value(), 1);
      ASSERT_LE(got.mean.value(), max - produced);
      ASSERT_GE(got.variance, 0);
    }
    EXPECT_EQ(remaining(footprint, footprint.max_output).mean, Tokens(0));
    EXPECT_EQ(remaining(footprint, footprint.max_output + Tokens(1)).mean, Tokens(0));
  }
}

// Law: past its last point a request goes on for half of what it produced, at most to its limit.
TEST(Remaining, BeyondTheForecastIsAHeavyTail) {
  domain::Footprint footprint;
  footprint.max_output = Tokens(1'000);
  footprint.output = certain(Tokens(100));
  EXPECT_EQ(remaining(footprint, Tokens(100)).mean, Tokens(50));
  EXPECT_EQ(remaining(footprint, Tokens(400)).mean, Tokens(200));
  EXPECT_EQ(remaining(footprint, Tokens(900)).mean, Tokens(100));
}

// Law: a certain forecast counts down exactly and without spread.
TEST(Remaining, CertainCountsDown) {
  domain::Footprint footprint;
  footprint.max_output = Tokens(64);
  footprint.output = certain(Tokens(40));
  for (std::int64_t produced = 0; produced < 40; ++produced) {
    EXPECT_EQ(remaining(footprint, Tokens(produced)).mean, Tokens(40 - produced));
    EXPECT_EQ(remaining(footprint, Tokens(produced)).variance, 0);
  }
}

// Law: without history the eight points are the quantiles of an even spread over [1, top].
TEST(Uninformed, IsAnEvenSpread) {
  const domain::LengthForecast forecast = uninformed(Tokens(160), Tokens(512));
  for (std::size_t i = 0; i < domain::LengthForecast::kPoints; ++i) {
    EXPECT_EQ(forecast.lengths[i].value(), static_cast<std::int64_t>(10 + 20 * i));
  }
  EXPECT_EQ(uninformed(Tokens(10'000), Tokens(160)), forecast);
  EXPECT_EQ(uninformed(Tokens(1), Tokens(512)), certain(Tokens(1)));
  EXPECT_LE(uninformed(Tokens::max(), Tokens::max()).lengths.back(), Tokens::max());
}

}  // namespace
}  // namespace tidegate::cost
