#include "units/prng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace tidegate::units {
namespace {

// The stream of a seed is xoshiro256** seeded by splitmix64: the first outputs for the seed 0 are
// those that other implementations publish.
TEST(Prng, GivesThePublishedNumbers) {
  Prng prng(0);
  for (const std::uint64_t expected :
       {11091344671253066420ULL, 13793997310169335082ULL, 1900383378846508768ULL,
        7684712102626143532ULL, 13521403990117723737ULL, 18442103541295991498ULL}) {
    EXPECT_EQ(prng.next(), expected);
  }
}

// A copy continues with the same numbers, independently of the original.
TEST(Prng, ACopyForksTheStream) {
  Prng original(7);
  original.next();
  Prng copy = original;
  EXPECT_EQ(copy.next(), original.next());
  original.next();
  EXPECT_NE(copy.next(), original.next());
}

// Each of k values comes up n/k times, within 6 standard deviations; a bound of 2^64 * 2/3 has a
// modulo bias of a factor of two, which this would show.
TEST(Prng, BelowHasNoModuloBias) {
  constexpr std::uint64_t kBound = 12'297'829'382'473'034'410ULL;  // 2/3 of 2^64
  constexpr int kDraws = 60'000;
  constexpr int kParts = 6;
  std::array<int, kParts> hits{};
  Prng prng(3);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = prng.below(kBound);
    ASSERT_LT(drawn, kBound);
    ++hits.at(drawn / (kBound / kParts + 1));
  }
  // n = 60000, p = 1/6: mean 10000, sd = sqrt(n p (1 - p)) = 91.3.
  for (const int count : hits) EXPECT_NEAR(count, 10'000, 6 * 92);
}

// Small bounds give every value and nothing else; the bound 1 leaves only zero.
TEST(Prng, BelowCoversItsRange) {
  Prng prng(4);
  for (std::uint64_t bound = 1; bound <= 8; ++bound) {
    std::vector<int> hits(bound);
    for (int i = 0; i < 400; ++i) ++hits.at(prng.below(bound));
    for (const int count : hits) EXPECT_GT(count, 0) << bound;
  }
}

// Both ends of a range are reached and nothing outside it, also when the range is all of int64.
TEST(Prng, BetweenIncludesBothEnds) {
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  Prng prng(5);
  std::array<int, 3> hits{};
  for (int i = 0; i < 300; ++i) {
    const std::int64_t drawn = prng.between(kHighest - 2, kHighest);
    ASSERT_GE(drawn, kHighest - 2);
    ++hits.at(static_cast<std::size_t>(drawn - (kHighest - 2)));
  }
  for (const int count : hits) EXPECT_GT(count, 0);
  EXPECT_EQ(prng.between(kLowest, kLowest), kLowest);
  int negative = 0;
  for (int i = 0; i < 1000; ++i) negative += prng.between(kLowest, kHighest) < 0 ? 1 : 0;
  EXPECT_NEAR(negative, 500, 6 * 16);  // sd = sqrt(1000 / 4) = 15.8
}

// An event of probability p happens n*p times, within 6 standard deviations; 0 never, 1 always.
TEST(Prng, ChanceKeepsItsProbability) {
  Prng prng(6);
  int happened = 0;
  for (int i = 0; i < 100'000; ++i) {
    happened += prng.chance(Ppm(250'000)) ? 1 : 0;
    ASSERT_FALSE(prng.chance(Ppm(0)));
    ASSERT_TRUE(prng.chance(Ppm(kMillion)));
  }
  EXPECT_NEAR(happened, 25'000, 6 * 137);  // sd = sqrt(100000 * 0.25 * 0.75) = 136.9
}

// Asking for a number below zero is a bug of the caller and stops the process.
TEST(PrngDeathTest, BelowZeroStops) {
  Prng prng(8);
  EXPECT_DEATH(prng.below(0), "check failed: bound > 0");
}

}  // namespace
}  // namespace tidegate::units
