#include "fitting/step_law_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fitting/non_negative_least_squares.h"
#include "units/prng.h"

namespace tidegate::fitting {
namespace {

using units::Nanos;
using units::Tokens;

cost::StepShape shape_of(std::int64_t decodes, std::int64_t context, std::int64_t chunk,
                         std::int64_t before) {
  cost::StepShape shape;
  for (std::int64_t i = 0; i < decodes; ++i) shape.add_decode(Tokens(context));
  if (chunk > 0) shape.add_chunk(Tokens(before), Tokens(chunk));
  return shape;
}

// Steps of every mixture that a server sees.
std::vector<cost::StepShape> usual_shapes() {
  constexpr std::array<std::int64_t, 5> kChunks = {0, 16, 100, 600, 2'048};
  std::vector<cost::StepShape> shapes;
  for (const std::int64_t decodes : {0, 1, 4, 16, 64, 200}) {
    for (const std::int64_t context : {64, 1'000, 8'000}) {
      for (const auto chunk : kChunks) shapes.push_back(shape_of(decodes, context, chunk, context));
    }
  }
  std::erase_if(shapes, [](const cost::StepShape& shape) { return shape.empty(); });
  return shapes;
}

// The usual steps, timed by `law`, each off by up to noise_ppm.
std::vector<Sample> measured_by(const domain::StepCoefficients& law, std::int64_t noise_ppm) {
  std::vector<Sample> samples;
  units::Prng prng(7);
  for (const cost::StepShape& shape : usual_shapes()) {
    const units::Ppm factor(units::kMillion + prng.between(-noise_ppm, noise_ppm));
    samples.push_back({shape, units::scaled(cost::predict(law, shape), factor)});
  }
  return samples;
}

domain::StepCoefficients two_knees() {
  domain::StepCoefficients law;
  law.base_fs = 9'000'000'000'000;
  law.knees = {Tokens(32), Tokens(256)};
  law.per_token_fs = {90'000'000'000, 5'000'000'000, 60'000'000'000};
  law.per_kv_token_fs = 60'000'000;
  law.per_attention_fs = 400'000;
  return law;
}

// Without noise the fit recovers the times of any law of its own form to rounding.
TEST(StepLawFit, RecoversALawOfItsOwnForm) {
  const auto samples = measured_by(two_knees(), 0);
  const auto fit = fit_step_law(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_LT(fit->error.p90, 0.002);
}

// Noise of +-4 % leaves a fit whose error on unseen, noise-free steps is below the noise.
TEST(StepLawFit, AveragesNoiseOut) {
  const auto fit = fit_step_law(measured_by(two_knees(), 40'000));
  ASSERT_TRUE(fit.has_value());
  std::vector<Sample> unseen;
  for (const std::int64_t chunk : {30, 300, 1'000}) {
    const auto shape = shape_of(24, 2'000, chunk, 500);
    unseen.push_back({shape, cost::predict(two_knees(), shape)});
  }
  EXPECT_LT(error_of(fit->law, unseen).p90, 0.04);
}

// Kernels that compute four rows at a time, and a row left over in half of a tile's time, are found
// again where the fit is told to look for fours; a law without tiles gets none.
TEST(StepLawFit, RecoversTiles) {
  domain::StepCoefficients law = two_knees();
  law.row_tile = 4;
  law.tile_fs = 4'000'000'000'000;
  law.stray_fs = 2'000'000'000'000;
  std::vector<Sample> samples = measured_by(law, 0);
  for (std::int64_t n = 1; n <= 16; ++n) {
    const auto shape = shape_of(n, 300, 0, 0);
    samples.push_back({shape, cost::predict(law, shape)});
  }
  const auto fit = fit_step_law(samples, {.row_tile = 4});
  EXPECT_LT(fit->error.p90, 0.002);
  EXPECT_EQ(fit->law.row_tile, 4);
  EXPECT_GT(fit_step_law(samples)->error.p90, 0.01);
  EXPECT_EQ(fit_step_law(measured_by(two_knees(), 0), {.row_tile = 4})->law.row_tile, 0);
}

// No coefficient is ever negative, whatever was measured: more work never looks like less time.
TEST(StepLawFit, NeverGivesANegativeCoefficient) {
  units::Prng prng(3);
  std::vector<Sample> samples;
  for (int i = 0; i < 60; ++i) {
    samples.push_back({shape_of(prng.between(1, 64), prng.between(1, 4'000), prng.between(0, 900),
                                prng.between(0, 4'000)),
                       Nanos(prng.between(1, 50'000'000))});
  }
  const auto fit = fit_step_law(samples, {.row_tile = 4});
  ASSERT_TRUE(fit.has_value());
  const auto& law = fit->law;
  for (const std::int64_t c :
       {law.base_fs, law.per_token_fs[0], law.per_token_fs[1], law.per_token_fs[2], law.prefill_fs,
        law.per_decode_fs, law.per_kv_token_fs, law.per_attention_fs, law.tile_fs, law.stray_fs}) {
    EXPECT_GE(c, 0);
  }
}

// Steps without work or time are refused, and the message says which one.
TEST(StepLawFit, RefusesImpossibleSamples) {
  EXPECT_FALSE(fit_step_law({}).has_value());
  std::vector<Sample> samples(3, Sample{shape_of(1, 10, 0, 0), Nanos(5)});
  samples[2].time = Nanos(0);
  const auto fit = fit_step_law(samples);
  ASSERT_FALSE(fit.has_value());
  EXPECT_EQ(fit.error().where, "sample 2");
}

// On random problems the result satisfies the Karush-Kuhn-Tucker conditions, which for this convex
// problem are necessary and sufficient: x >= 0, gradient >= 0, and x * gradient = 0.
TEST(NonNegativeLeastSquares, SatisfiesTheOptimalityConditions) {
  units::Prng prng(11);
  for (int round = 0; round < 200; ++round) {
    const auto draw = [&] { return static_cast<double>(prng.between(-9, 9)); };
    const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(12, 5, draw);
    const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(12, draw);
    const Eigen::VectorXd x = non_negative_least_squares(a, b);
    const Eigen::VectorXd gradient = a.transpose() * (a * x - b);
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      EXPECT_GE(x[j], 0.0);
      EXPECT_GE(gradient[j], -1e-6);
      EXPECT_NEAR(x[j] * gradient[j], 0.0, 1e-6);
    }
  }
}

}  // namespace
}  // namespace tidegate::fitting
