#include "workload/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "goodness_of_fit.h"

namespace tidegate::workload {
namespace {

using units::Nanos;
using units::seconds;

constexpr Nanos kHour = seconds(3600);

std::vector<double> all(const RateCurve& curve, const ArrivalLaw& law, double count,
                        std::uint64_t seed) {
  Arrivals arrivals(curve, kHour, {law, count, seed});
  std::vector<double> times;
  for (double t = arrivals.next(); t < Arrivals::kNever; t = arrivals.next()) times.push_back(t);
  return times;
}

// Time rescaling: on the clock of the work done, the gaps of a Poisson client under any shape are
// exponential with the mean rate.
TEST(Arrivals, RescaledGapsAreExponential) {
  for (const RateCurve& curve :
       {steady_curve(kHour), square_curve(seconds(600), 5, kHour), diurnal_curve(kHour, 10, kHour),
        window_curve({seconds(1000), seconds(60), 1, 20}, kHour)}) {
    const auto times = all(curve, ArrivalLaw{}, 20'000, 7);
    std::vector<double> gaps;
    for (std::size_t i = 1; i < times.size(); ++i) {
      gaps.push_back((curve.work(times[i]) - curve.work(times[i - 1])) * 20'000 / 3600e9);
    }
    EXPECT_LT(kolmogorov(gaps, exponential_below), kKolmogorovLimit);
  }
}

// Under a shape a Poisson client's arrivals fall as its curve says: W(t)/W(end) is uniform.
TEST(Arrivals, FollowTheCurve) {
  const RateCurve curve = diurnal_curve(kHour, 10, kHour);
  std::vector<double> places;
  for (const double t : all(curve, ArrivalLaw{}, 20'000, 8)) {
    places.push_back(curve.work(t) / 3600e9);
  }
  EXPECT_LT(kolmogorov(places, [](double x) { return x; }), kKolmogorovLimit);
}

// The mean count is the one asked for from the first moment on, also for bursts so long that few
// fit in a run: over many seeds, within 4 standard errors.
TEST(Arrivals, MeanCountIsKept) {
  const RateCurve curve = steady_curve(kHour);
  for (const double cv : {0.3, 1.0, 4.0}) {
    constexpr int kSeeds = 2'000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto n =
          static_cast<double>(all(curve, {GapKind::kGamma, cv, 0, 0, 600e9}, 25, seed).size());
      sum += n;
      squares += n * n;
    }
    const double mean = sum / kSeeds;
    const double error = std::sqrt((squares / kSeeds - mean * mean) / kSeeds);
    EXPECT_NEAR(mean, 25, 4 * error) << cv;
  }
}

// Drift moves arrivals within the run but keeps their mean: each path sums to one. With drift the
// counts of its windows vary as the lognormal law says.
TEST(Arrivals, DriftKeepsTheMean) {
  const RateCurve curve = steady_curve(kHour);
  const ArrivalLaw law{GapKind::kGamma, 1, 1.0, 0.0, 10e9};
  double sum = 0;
  double squared_cv = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto times = all(curve, law, 36'000, seed);
    EXPECT_NEAR(static_cast<double>(times.size()), 36'000, 5 * std::sqrt(36'000.0));
    sum += static_cast<double>(times.size());
    std::vector<double> windows(360);
    for (const double t : times) windows[static_cast<std::size_t>(t / 10e9)] += 1;
    double variance = 0;
    for (const double n : windows) variance += (n - 100) * (n - 100) / 360;
    squared_cv += (variance - 100) / (100.0 * 100) / 20;
  }
  EXPECT_NEAR(sum / 20, 36'000, 4 * std::sqrt(36'000.0 / 20));
  EXPECT_NEAR(squared_cv, std::exp(1.0) - 1, 0.35);
}

// The gaps of one gamma client have the variability asked for.
TEST(Arrivals, GapsHaveTheirVariability) {
  const RateCurve curve = steady_curve(kHour);
  for (const double cv : {0.5, 1.0, 2.0}) {
    const auto times = all(curve, {GapKind::kGamma, cv, 0, 0, 600e9}, 50'000, 9);
    double squares = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      squares += (times[i] - times[i - 1]) * (times[i] - times[i - 1]);
    }
    const auto n = static_cast<double>(times.size() - 1);
    const double mean = (times.back() - times.front()) / n;
    EXPECT_NEAR(std::sqrt(squares / n - mean * mean) / mean, cv, 0.03 * cv);
  }
}

}  // namespace
}  // namespace tidegate::workload
