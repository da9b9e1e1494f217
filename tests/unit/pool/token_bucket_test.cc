#include "pool/admission/token_bucket.h"

#include <gtest/gtest.h>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

// A bucket that gets one unit every 100 ns, counted nanosecond by nanosecond.
struct NaiveBucket {
  std::int64_t level_ns = 20LL * 100;  // in units of 1/100 token
  void pass(std::int64_t ns) {
    for (std::int64_t i = 0; i < ns; ++i)
      level_ns = std::min<std::int64_t>(20LL * 100, level_ns + 1);
  }
  bool take(std::int64_t n) {
    if (level_ns < n * 100) return false;
    level_ns -= n * 100;
    return true;
  }
};

// Random takes and settlements: granted and refused exactly as by counting every nanosecond.
TEST(TokenBucket, AgreesWithCountingEveryNanosecond) {
  units::Prng prng(3);
  TokenBucket bucket(10, units::Nanos(1'000), 20);
  NaiveBucket naive;
  units::Instant now;
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t ns = prng.between(0, 400);
    now = now + units::Nanos(ns);
    naive.pass(ns);
    const std::int64_t amount = prng.between(1, 20);
    const units::Nanos wait = bucket.wait_for(amount, now);
    ASSERT_EQ(wait.value(), std::max<std::int64_t>(0, amount * 100 - naive.level_ns));
    std::int64_t taken = 0;
    const bool granted = bucket.take(amount, now, taken);
    ASSERT_EQ(granted, naive.take(amount));
    if (granted && prng.chance(units::Ppm(500'000))) {
      const std::int64_t used = prng.between(0, 25);
      bucket.settle(taken, used, now);
      naive.level_ns = std::min<std::int64_t>(20LL * 100, naive.level_ns + (taken - used) * 100);
    }
  }
}

// What takes more than the whole limit passes only when nothing of the limit is in use.
TEST(TokenBucket, OversizedTakesAreCutToTheLimit) {
  TokenBucket bucket(10, units::seconds(1), 10);
  std::int64_t taken = 0;
  EXPECT_TRUE(bucket.take(1'000, units::Instant(0), taken));
  EXPECT_EQ(taken, 10);
  EXPECT_FALSE(bucket.take(1'000, units::Instant(999'999'999), taken));
  EXPECT_TRUE(bucket.take(1'000, units::Instant(1'000'000'000), taken));
}

}  // namespace
}  // namespace tidegate::pool
