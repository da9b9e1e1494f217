#include "cost/length_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cost/length_forecast.h"
#include "units/prng.h"

namespace tidegate::cost {
namespace {

using units::Prng;
using units::Tokens;

constexpr Tokens kHuge{1 << 20};

// Law: a constant length is forecast within 9 % at every quantile, whatever its size.
TEST(LengthModel, QuantileErrorIsAtMostNinePercent) {
  for (std::int64_t length = 1; length < (1 << 20); length += 1 + length / 13) {
    LengthModel model;
    for (int i = 0; i < 40; ++i) model.observe(Tokens(length));
    for (const Tokens point : model.forecast(kHuge).lengths) {
      ASSERT_LE(std::abs(point.value() - length) * 100, 9 * length) << "length " << length;
    }
  }
}

// Law: each forecast point is the quantile at (i + 1/2) / 8 of what was seen, within 9 % of a
// length between its neighbours in the sorted sample (uniform, heavy-tailed and two-peaked).
TEST(LengthModel, PointsAreTheQuantilesOfTheSample) {
  Prng prng(31);
  for (int shape = 0; shape < 3; ++shape) {
    LengthModel model;
    std::vector<std::int64_t> sample;
    for (int i = 0; i < 400; ++i) {
      std::int64_t length = prng.between(1, 900);
      if (shape == 1) length = 4'000 / prng.between(1, 400);
      if (shape == 2) length = prng.below(2) == 0 ? prng.between(5, 9) : prng.between(700, 800);
      sample.push_back(std::max<std::int64_t>(1, length));
      model.observe(Tokens(sample.back()));
    }
    std::ranges::sort(sample);
    const auto forecast = model.forecast(kHuge);
    for (std::size_t i = 0; i < domain::LengthForecast::kPoints; ++i) {
      // Newer observations weigh up to 2.2 times more, so the rank may be off by some percent.
      const std::size_t rank = sample.size() * (2 * i + 1) / 16;
      const std::int64_t low = sample[rank - std::min(rank, std::size_t{28})] * 91 / 100 - 1;
      const std::int64_t high = sample[std::min(sample.size() - 1, rank + 28)] * 109 / 100 + 1;
      EXPECT_GE(forecast.lengths[i].value(), low) << "shape " << shape << " point " << i;
      EXPECT_LE(forecast.lengths[i].value(), high) << "shape " << shape << " point " << i;
    }
  }
}

// Law: a forecast is ascending and within [1, max_output], however little or much was seen.
TEST(LengthModel, ForecastIsAlwaysValid) {
  Prng prng(32);
  LengthModel model;
  for (int i = 0; i < 3'000; ++i) {
    const Tokens max(prng.between(1, 5'000));
    const auto forecast = model.forecast(max);
    ASSERT_TRUE(std::ranges::is_sorted(forecast.lengths)) << "after " << i;
    ASSERT_GE(forecast.lengths.front(), Tokens(1));
    ASSERT_LE(forecast.lengths.back(), max);
    model.observe(Tokens(static_cast<std::int64_t>(prng.next() >> prng.between(1, 63))));
  }
}

// Law: before anything was seen the forecast is the uninformed one.
TEST(LengthModel, StartsUninformed) {
  EXPECT_EQ(LengthModel().forecast(Tokens(100)), uninformed(Tokens(100), Tokens(512)));
}

// Law: what changed is followed: after 2,000 long answers nothing is left of 10,000 short ones,
// and the weights survive their rescaling (which 10,000 observations reach).
TEST(LengthModel, ForgetsTheOldWorkload) {
  LengthModel model;
  for (int i = 0; i < 10'000; ++i) model.observe(Tokens(10));
  EXPECT_EQ(model.forecast(kHuge).lengths.front(), Tokens(10));
  for (int i = 0; i < 2'000; ++i) model.observe(Tokens(1'000));
  EXPECT_GE(model.forecast(kHuge).lengths.front(), Tokens(910));
  EXPECT_EQ(model.observations(), 12'000);
}

}  // namespace
}  // namespace tidegate::cost
