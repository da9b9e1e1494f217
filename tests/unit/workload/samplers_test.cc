#include "workload/samplers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "goodness_of_fit.h"

namespace tidegate::workload {
namespace {

constexpr int kDraws = 200'000;

struct Moments {
  double mean = 0;
  double cv = 0;
};

template <class Draw>
Moments moments(Draw draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(squares / kDraws - mean * mean) / mean};
}

// Uniform, exponential and normal numbers follow their laws.
TEST(Samplers, FollowTheirLaws) {
  units::Prng prng(1);
  std::vector<double> uniforms, exponentials, normals;
  for (int i = 0; i < 20'000; ++i) {
    uniforms.push_back(uniform(prng));
    exponentials.push_back(exponential(prng));
    normals.push_back(normal(prng));
  }
  EXPECT_LT(kolmogorov(uniforms, [](double x) { return x; }), kKolmogorovLimit);
  EXPECT_LT(kolmogorov(exponentials, exponential_below), kKolmogorovLimit);
  EXPECT_LT(kolmogorov(normals, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }),
            kKolmogorovLimit);
}

// A gamma number of shape k has mean k and deviation over mean 1/sqrt(k), above and below shape 1.
TEST(Samplers, GammaHasItsMoments) {
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 40.0}) {
    units::Prng prng(2);
    const Moments m = moments([&] { return gamma(prng, shape); });
    const double cv = 1 / std::sqrt(shape);
    EXPECT_NEAR(m.mean, shape, 5 * shape * cv / std::sqrt(kDraws)) << shape;
    EXPECT_NEAR(m.cv, cv, 0.03 * cv) << shape;
  }
}

// Of shape 1 it is exponential; of shape 1/2 half the square of a normal number.
TEST(Samplers, GammaFollowsItsLaw) {
  units::Prng prng(3);
  std::vector<double> ones, halves;
  for (int i = 0; i < 20'000; ++i) {
    ones.push_back(gamma(prng, 1));
    halves.push_back(gamma(prng, 0.5));
  }
  EXPECT_LT(kolmogorov(ones, exponential_below), kKolmogorovLimit);
  EXPECT_LT(kolmogorov(halves, [](double x) { return std::erf(std::sqrt(x)); }), kKolmogorovLimit);
}

void expect_mean_one(GapKind kind, double cv) {
  units::Prng prng(4);
  const GapLaw law(kind, cv);
  const Moments m = moments([&] { return law.draw(prng); });
  EXPECT_NEAR(m.mean, 1, 5 * cv / std::sqrt(kDraws)) << cv;
  EXPECT_NEAR(m.cv, cv, 0.08 * cv) << cv;
}

// Gaps have mean 1 and the deviation asked for, whichever the law.
TEST(Gaps, HaveMeanOneAndTheirVariability) {
  for (const GapKind kind : {GapKind::kGamma, GapKind::kWeibull}) {
    for (const double cv : {0.2, 1.0, 2.0, 4.0}) expect_mean_one(kind, cv);
  }
}

// With variability 1 both laws are the exponential one.
TEST(Gaps, ArePoissonAtOne) {
  for (const GapKind kind : {GapKind::kGamma, GapKind::kWeibull}) {
    units::Prng prng(5);
    const GapLaw law(kind, 1);
    std::vector<double> gaps;
    for (int i = 0; i < 20'000; ++i) gaps.push_back(law.draw(prng));
    EXPECT_LT(kolmogorov(gaps, exponential_below), kKolmogorovLimit);
  }
}

void expect_equilibrium_wait(GapKind kind, double cv) {
  units::Prng prng(6);
  const GapLaw law(kind, cv);
  const Moments m = moments([&] { return law.draw_first(prng); });
  EXPECT_NEAR(m.mean, (1 + cv * cv) / 2, 0.03 * (1 + cv * cv)) << cv;
}

// The wait from an arbitrary instant has mean (1 + cv^2) / 2 (the inspection paradox).
TEST(Gaps, WaitFromAnywhereIsTheEquilibriumOne) {
  for (const GapKind kind : {GapKind::kGamma, GapKind::kWeibull}) {
    for (const double cv : {0.3, 1.0, 2.0}) expect_equilibrium_wait(kind, cv);
  }
}

}  // namespace
}  // namespace tidegate::workload
