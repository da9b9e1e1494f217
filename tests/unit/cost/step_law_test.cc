#include "cost/step_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "units/prng.h"

namespace tidegate::cost {
namespace {

using domain::StepCoefficients;
using units::Nanos;
using units::Ppm;
using units::Prng;
using units::Tokens;

StepCoefficients random_law(Prng& prng) {
  StepCoefficients law;
  law.base_fs = prng.between(0, 20'000'000'000'000);
  law.knees = {Tokens(prng.between(0, 300)), Tokens(prng.between(300, 900))};
  for (auto& slope : law.per_token_fs) slope = prng.between(0, 200'000'000'000);
  law.prefill_fs = prng.between(0, 5'000'000'000'000);
  law.per_decode_fs = prng.between(0, 100'000'000'000);
  law.per_kv_token_fs = prng.between(0, 50'000'000);
  law.per_attention_fs = prng.between(0, 100'000);
  if (prng.below(2) == 0) return law;
  law.row_tile = prng.between(1, 8);
  law.tile_fs = prng.between(0, 5'000'000'000'000);
  law.stray_fs = prng.between(0, 2'000'000'000'000);
  return law;
}

StepShape random_shape(Prng& prng) {
  StepShape shape;
  const std::int64_t decodes = prng.between(0, 64);
  for (std::int64_t i = 0; i < decodes; ++i) shape.add_decode(Tokens(prng.between(0, 8'000)));
  const std::int64_t chunks = prng.between(0, 3);
  for (std::int64_t i = 0; i < chunks; ++i) {
    shape.add_chunk(Tokens(prng.between(0, 8'000)), Tokens(prng.between(1, 512)));
  }
  return shape;
}

// Row after row: a full tile costs tile_fs, and no part of one costs more.
long double tiles_fs(const StepCoefficients& law, const StepShape& shape) {
  long double full = 0;
  long double part = 0;
  const std::int64_t rows = shape.decodes + (shape.prefill_tokens > 0 ? 1 : 0);
  for (std::int64_t row = 1; row <= rows && law.row_tile > 0; ++row) {
    part = std::min(part + static_cast<long double>(law.stray_fs),
                    static_cast<long double>(law.tile_fs));
    if (row % law.row_tile > 0) continue;
    full += static_cast<long double>(law.tile_fs);
    part = 0;
  }
  return full + part;
}

// The formula above StepCoefficients, in long double: slope(m) as the sum over every token of the
// slope where it lies.
long double formula_ns(const StepCoefficients& law, const StepShape& shape) {
  if (shape.decodes == 0 && shape.prefill_tokens == 0) return 0;
  long double fs = static_cast<long double>(law.base_fs);
  for (std::int64_t token = 1; token <= shape.decodes + shape.prefill_tokens; ++token) {
    const std::size_t segment = token <= law.knees[0].value()   ? 0
                                : token <= law.knees[1].value() ? 1
                                                                : 2;
    fs += static_cast<long double>(law.per_token_fs[segment]);
  }
  if (shape.prefill_tokens > 0) fs += static_cast<long double>(law.prefill_fs);
  fs += static_cast<long double>(law.per_decode_fs) * static_cast<long double>(shape.decodes);
  fs += static_cast<long double>(law.per_kv_token_fs) * static_cast<long double>(shape.kv_tokens);
  fs += static_cast<long double>(law.per_attention_fs) * static_cast<long double>(shape.attention);
  return (fs + tiles_fs(law, shape)) / 1e6L;
}

// Law: the shape counts n, K, P and X = sum of chunk * (context + chunk / 2), whatever the order.
TEST(StepShape, CountsWhatTheFormulaNames) {
  StepShape shape;
  shape.add_chunk(Tokens(100), Tokens(16));
  shape.add_decode(Tokens(30));
  shape.add_decode(Tokens(12));
  EXPECT_EQ(shape.decodes, 2);
  EXPECT_EQ(shape.kv_tokens, 42);
  EXPECT_EQ(shape.prefill_tokens, 16);
  EXPECT_EQ(shape.attention, 16 * (100 + 8));
  StepShape other;
  other.add_decode(Tokens(12));
  other.add_decode(Tokens(30));
  other.add_chunk(Tokens(100), Tokens(16));
  EXPECT_EQ(shape, other);
}

// Law: predict() is the formula, rounded up to a nanosecond.
TEST(StepLaw, PredictIsTheFormula) {
  Prng prng(11);
  for (int i = 0; i < 2'000; ++i) {
    const StepCoefficients law = random_law(prng);
    const StepShape shape = random_shape(prng);
    const long double expected = formula_ns(law, shape);
    const auto predicted = static_cast<long double>(predict(law, shape).value());
    ASSERT_GE(predicted, expected - 1e-3L);
    ASSERT_LT(predicted, expected + 1.001L);
  }
}

// Law: an empty step takes no time, and an absurd one takes for ever instead of wrapping.
TEST(StepLaw, ExtremesSaturate) {
  StepCoefficients law;
  law.base_fs = 1'000'000;
  EXPECT_EQ(predict(law, {}), Nanos(0));
  StepShape huge;
  for (int i = 0; i < 4; ++i) huge.add_chunk(Tokens::max(), Tokens::max());
  law.per_token_fs.fill(INT64_MAX);
  law.per_attention_fs = INT64_MAX;
  EXPECT_EQ(predict(law, huge), Nanos::max());
}

// Law: more of anything never makes a step shorter.
TEST(StepLaw, PredictIsMonotone) {
  Prng prng(12);
  for (int i = 0; i < 2'000; ++i) {
    const StepCoefficients law = random_law(prng);
    StepShape shape = random_shape(prng);
    const Nanos before = predict(law, shape);
    if (prng.below(2) == 0) {
      shape.add_decode(Tokens(prng.between(0, 4'000)));
    } else {
      shape.add_chunk(Tokens(prng.between(0, 4'000)), Tokens(prng.between(0, 64)));
    }
    ASSERT_GE(predict(law, shape), before);
  }
}

// Law: largest_chunk() is the last chunk that a linear search accepts, or 0.
TEST(StepLaw, LargestChunkIsTheLinearSearch) {
  Prng prng(13);
  for (int i = 0; i < 1'000; ++i) {
    const StepCoefficients law = random_law(prng);
    const StepShape shape = random_shape(prng);
    const Tokens context(prng.between(0, 4'000));
    const Tokens limit(prng.between(0, 300));
    const Nanos budget(predict(law, shape).value() + prng.between(-10'000'000, 40'000'000));
    const StepLaw learned(law);
    std::int64_t best = 0;
    for (std::int64_t chunk = 1; chunk <= limit.value(); ++chunk) {
      StepShape with = shape;
      with.add_chunk(context, Tokens(chunk));
      if (learned.guarded(with) <= budget) best = chunk;
    }
    ASSERT_EQ(learned.largest_chunk(shape, context, budget, limit), Tokens(best));
  }
}

StepCoefficients plain_law() {
  StepCoefficients law;
  law.base_fs = 10'000'000'000'000;  // 10 ms
  law.per_token_fs.fill(20'000'000'000);
  return law;
}

StepShape plain_shape() {
  StepShape shape;
  for (int i = 0; i < 8; ++i) shape.add_decode(Tokens(100));
  return shape;
}

// Law: when every step takes k times what the law says, the correction goes to k, from an
// unmeasured law within seconds and from a calibrated one within a few minutes of engine time.
TEST(StepLaw, CorrectionConvergesToTheTrueFactor) {
  for (const std::int64_t percent : {50, 80, 120, 200, 300}) {
    for (const bool calibrated : {false, true}) {
      StepLaw law(plain_law(), calibrated);
      const Nanos actual = predict(plain_law(), plain_shape()) * percent / 100;
      const Nanos enough = calibrated ? units::seconds(360) : units::seconds(20);
      for (Nanos passed(0); passed < enough; passed += actual) law.observe(plain_shape(), actual);
      EXPECT_NEAR(static_cast<double>(law.correction().value()), 10'000.0 * double(percent),
                  10'000.0 * double(percent) * 0.03)
          << percent << " % calibrated " << calibrated;
    }
  }
}

// Law: the correction follows slowly: a calibrated law that runs 30 % slow for a second has moved
// by less than a third of the way, so that noise does not make it oscillate.
TEST(StepLaw, CorrectionIsSlow) {
  StepLaw law(plain_law());
  const Nanos actual = predict(plain_law(), plain_shape()) * 130 / 100;
  for (Nanos passed(0); passed < units::seconds(1); passed += actual) {
    law.observe(plain_shape(), actual);
  }
  EXPECT_GT(law.correction().value(), 1'000'000);
  EXPECT_LT(law.correction().value(), 1'100'000);
}

// Law: one outlier of any size, up or down, moves correction and spread by a bounded amount: at
// most what a step four times off would, and 0.2 %.
TEST(StepLaw, OneOutlierIsBounded) {
  StepLaw absurd(plain_law());
  StepLaw four_times(plain_law());
  const Nanos mean = predict(plain_law(), plain_shape());
  const Ppm spread = absurd.spread();
  absurd.observe(plain_shape(), Nanos::max());
  four_times.observe(plain_shape(), mean * 4);
  EXPECT_EQ(absurd.correction(), four_times.correction());
  EXPECT_LE(absurd.correction().value(), 1'010'000);
  EXPECT_LE(absurd.spread().value() - spread.value(), 2'000);
  StepLaw tiny(plain_law());
  tiny.observe(plain_shape(), Nanos(1));
  EXPECT_GE(tiny.correction().value(), 990'000);
  EXPECT_LT(tiny.correction().value(), 1'000'000);
}

// Law: spread settles where one step in ten is slower than mean x spread (here the steps are
// uniform on +-50 % of the mean, so the q90 is 1.4 times the mean).
TEST(StepLaw, SpreadIsTheNinetiethPercentile) {
  StepLaw law(plain_law());
  Prng prng(14);
  const std::int64_t mean = predict(plain_law(), plain_shape()).value();
  for (int i = 0; i < 60'000; ++i) {
    law.observe(plain_shape(), Nanos(mean * prng.between(50, 150) / 100));
  }
  EXPECT_NEAR(static_cast<double>(law.spread().value()), 1'400'000.0, 60'000.0);
}

// Law: an unmeasured law becomes calibrated by observation, and guarded() is never below mean().
TEST(StepLaw, CalibrationComesWithSteps) {
  StepLaw law(plain_law(), false);
  EXPECT_FALSE(law.calibrated());
  for (int i = 0; i < 64; ++i) {
    EXPECT_GE(law.guarded(plain_shape()), law.mean(plain_shape()));
    law.observe(plain_shape(), units::milliseconds(12));
  }
  EXPECT_TRUE(law.calibrated());
}

// Law: observations without time in them teach nothing.
TEST(StepLaw, NothingIsLearnedFromNothing) {
  StepLaw law(plain_law());
  law.observe({}, units::milliseconds(5));
  law.observe(plain_shape(), Nanos(0));
  law.observe(plain_shape(), Nanos(-5));
  EXPECT_EQ(law.correction(), Ppm(units::kMillion));
  EXPECT_EQ(law.spread(), StepLaw(plain_law()).spread());
}

}  // namespace
}  // namespace tidegate::cost
