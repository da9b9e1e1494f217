#include "cost/length_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cost/length_forecast.h"
#include "units/prng.h"

namespace tidegate::cost {
namespace {

using units::Prng;
using units::Tokens;

constexpr Tokens kHuge{1 << 20};

domain::LengthForecast forecast(const LengthModel& model, Tokens max_output) {
  return model.forecast(max_output, uninformed(max_output, Tokens(512)));
}

// Law: a constant length is forecast within 9 % at every quantile, whatever its size.
TEST(LengthModel, QuantileErrorIsAtMostNinePercent) {
  for (std::int64_t length = 1; length < (1 << 20); length += 1 + length / 13) {
    LengthModel model;
    for (int i = 0; i < 40; ++i) model.observe(Tokens(length), kHuge);
    for (const Tokens point : forecast(model, kHuge).lengths) {
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
      model.observe(Tokens(sample.back()), kHuge);
    }
    std::ranges::sort(sample);
    const auto made = forecast(model, kHuge);
    for (std::size_t i = 0; i < domain::LengthForecast::kPoints; ++i) {
      // Newer observations weigh up to 2.2 times more, so the rank may be off by some percent.
      const std::size_t rank = sample.size() * (2 * i + 1) / 16;
      const std::int64_t low = sample[rank - std::min(rank, std::size_t{28})] * 91 / 100 - 1;
      const std::int64_t high = sample[std::min(sample.size() - 1, rank + 28)] * 109 / 100 + 1;
      EXPECT_GE(made.lengths[i].value(), low) << "shape " << shape << " point " << i;
      EXPECT_LE(made.lengths[i].value(), high) << "shape " << shape << " point " << i;
    }
  }
}

// Law: a forecast is ascending and within [1, max_output], however little or much was seen.
TEST(LengthModel, ForecastIsAlwaysValid) {
  Prng prng(32);
  LengthModel model;
  for (int i = 0; i < 3'000; ++i) {
    const Tokens max(prng.between(1, 5'000));
    const auto made = forecast(model, max);
    ASSERT_TRUE(std::ranges::is_sorted(made.lengths)) << "after " << i;
    ASSERT_GE(made.lengths.front(), Tokens(1));
    ASSERT_LE(made.lengths.back(), max);
    model.observe(Tokens(static_cast<std::int64_t>(prng.next() >> prng.between(1, 63))), max);
  }
}

// Law: an answer that was cut at its maximum says nothing about where it would have ended: when all
// were cut, every request is expected to reach its own maximum, and one that may be longer than all
// of them is expected to be as long as the longest, or as the other forecast says.
TEST(LengthModel, WhatWasAlwaysCutIsExpectedAtItsMaximum) {
  Prng prng(33);
  LengthModel model;
  for (int i = 0; i < 100; ++i) {
    const Tokens max(prng.between(16, 96));
    model.observe(max, max);
  }
  for (const std::int64_t max : {16, 50, 90}) {
    EXPECT_EQ(forecast(model, Tokens(max)), certain(Tokens(max)));
  }
  const auto beyond = forecast(model, Tokens(131'072));
  EXPECT_GE(beyond.lengths.front(), Tokens(90));
  EXPECT_LE(beyond.lengths.front(), Tokens(104));
  EXPECT_EQ(beyond.lengths.back(), uninformed(Tokens(131'072), Tokens(512)).lengths.back());
}

// The product-limit estimate as the textbook has it, on a sample of (length, was it cut?) with the
// weights of the model's forgetting: the first length at which survival is below `target`.
std::int64_t textbook_quantile(const std::vector<std::pair<std::int64_t, bool>>& sample,
                               double target) {
  std::map<std::int64_t, std::pair<double, double>> at;  // ended, cut
  double at_risk = 0;
  std::int64_t weight = 1'024;
  for (const auto& [length, cut] : sample) {
    (cut ? at[length].second : at[length].first) += static_cast<double>(weight);
    at_risk += static_cast<double>(weight);
    weight += weight / 512;
  }
  double survival = 1;
  for (const auto& [length, ended_and_cut] : at) {
    survival *= 1 - ended_and_cut.first / at_risk;
    if (survival < target) return length;
    at_risk -= ended_and_cut.first + ended_and_cut.second;
  }
  return kHuge.value();
}

// Law: with some answers cut and others not, the points are the quantiles of the Kaplan-Meier
// estimate (lengths up to 15 have a bucket each, so they are exact).
TEST(LengthModel, CutAnswersCountAsTheProductLimitEstimateSays) {
  Prng prng(34);
  int beyond = 0;
  for (int world = 0; world < 500; ++world) {
    LengthModel model;
    std::vector<std::pair<std::int64_t, bool>> sample;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t length = prng.between(1, 15);
      const std::int64_t max = prng.between(1, 15);
      sample.emplace_back(std::min(length, max), length >= max);
      model.observe(Tokens(sample.back().first), Tokens(max));
    }
    const auto made = model.forecast(kHuge, certain(kHuge));
    for (std::size_t i = 0; i < domain::LengthForecast::kPoints; ++i) {
      const double target = 1 - (2 * static_cast<double>(i) + 1) / 16;
      const std::int64_t point = made.lengths[i].value();
      ASSERT_GE(point, textbook_quantile(sample, target + 1e-8)) << world << ", point " << i;
      ASSERT_LE(point, textbook_quantile(sample, target - 1e-8)) << world << ", point " << i;
    }
    beyond += made.lengths.back() == kHuge ? 1 : 0;
  }
  EXPECT_GT(beyond, 0);
  EXPECT_LT(beyond, 500);
}

// Law: before anything was seen the forecast is the one that is given.
TEST(LengthModel, StartsWithTheOtherForecast) {
  const auto other = uninformed(Tokens(100), Tokens(512));
  EXPECT_EQ(LengthModel().forecast(Tokens(100), other), other);
}

// Law: what changed is followed: after 2,000 long answers nothing is left of 10,000 short ones,
// and the weights survive their rescaling (which 10,000 observations reach).
TEST(LengthModel, ForgetsTheOldWorkload) {
  LengthModel model;
  for (int i = 0; i < 10'000; ++i) model.observe(Tokens(10), kHuge);
  EXPECT_EQ(forecast(model, kHuge).lengths.front(), Tokens(10));
  for (int i = 0; i < 2'000; ++i) model.observe(Tokens(1'000), kHuge);
  EXPECT_GE(forecast(model, kHuge).lengths.front(), Tokens(910));
  EXPECT_EQ(model.observations(), 12'000);
}

}  // namespace
}  // namespace tidegate::cost
