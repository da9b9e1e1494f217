#include "report/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "units/prng.h"

namespace tidegate::report {
namespace {

using units::Nanos;
using units::Ppm;

// Any quantile of any sample is within 0.8 % of the sorted sample's.
TEST(Histogram, QuantilesAreWithinTheirBound) {
  units::Prng prng(5);
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    std::vector<std::int64_t> sorted;
    const std::int64_t magnitude = std::int64_t{1} << prng.between(1, 50);
    for (int i = 0; i < 500; ++i) {
      sorted.push_back(prng.between(0, magnitude));
      histogram.add(Nanos(sorted.back()));
    }
    std::sort(sorted.begin(), sorted.end());
    for (const std::int64_t q : {1'000, 500'000, 900'000, 990'000, 1'000'000}) {
      const auto rank = static_cast<std::size_t>((500 * q + 999'999) / 1'000'000 - 1);
      const auto exact = static_cast<double>(sorted[rank]);
      EXPECT_NEAR(static_cast<double>(histogram.quantile(Ppm(q)).value()), exact,
                  exact * 0.008 + 1);
    }
  }
}

// Adding two histograms gives the histogram of both samples; extremes stay in range.
TEST(Histogram, AddsUp) {
  Histogram a;
  Histogram b;
  a.add(Nanos(-5));
  a.add(Nanos::max());
  b.add(Nanos(7));
  a.add(b);
  EXPECT_EQ(a.count(), 3);
  EXPECT_EQ(a.max(), Nanos::max());
  EXPECT_EQ(a.quantile(Ppm(0)), Nanos(0));
  EXPECT_EQ(a.quantile(Ppm(600'000)), Nanos(7));
  EXPECT_EQ(Histogram().quantile(Ppm(500'000)), Nanos(0));
}

}  // namespace
}  // namespace tidegate::report
