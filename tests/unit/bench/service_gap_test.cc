// The widest service gap against every interval looked at.
#include "service_gap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "units/prng.h"

namespace tidegate::bench {
namespace {

using units::Prng;

// One tenant's service while both wait counts from the first token on.
TEST(ServiceGap, TheFirstServiceOfAStretchCounts) {
  ServiceGap gap(2);
  gap.waits(0);
  gap.waits(1);
  gap.served(0, 10'000);
  EXPECT_EQ(gap.widest(), 10'000);
}

// Service while the other has nothing waiting opens no gap, and a new stretch begins afresh.
TEST(ServiceGap, OnlyStretchesInWhichBothWaitCount) {
  ServiceGap gap(2);
  gap.waits(0);
  gap.served(0, 5'000);
  gap.waits(1);
  gap.served(1, 40);
  gap.waits_no_more(1);
  gap.served(0, 7'000);
  gap.waits(1);
  gap.served(0, 60);
  EXPECT_EQ(gap.widest(), 60);
}

// Law: while both wait all the time, the widest gap is the largest difference between what the two
// were given in any interval.
TEST(ServiceGap, IsTheLargestDifferenceOverAllIntervals) {
  Prng prng(81);
  for (int world = 0; world < 200; ++world) {
    ServiceGap gap(2);
    gap.waits(0);
    gap.waits(1);
    std::vector<std::int64_t> difference{0};
    for (int i = 0; i < 20; ++i) {
      const std::size_t tenant = prng.below(2);
      const std::int64_t tokens = prng.between(1, 100);
      gap.served(tenant, tokens);
      difference.push_back(difference.back() + (tenant == 0 ? tokens : -tokens));
    }
    std::int64_t widest = 0;
    for (const std::int64_t from : difference) {
      for (const std::int64_t to : difference) widest = std::max(widest, std::abs(to - from));
    }
    EXPECT_EQ(gap.widest(), widest) << "world " << world;
  }
}

}  // namespace
}  // namespace tidegate::bench
