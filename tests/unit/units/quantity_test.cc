#include "units/quantity.h"

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <limits>

#include "units/ids.h"

namespace tidegate::units {
namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

// Kinds do not mix: tokens and blocks neither add nor compare, nor does either with a bare number.
static_assert(Addable<Tokens, Tokens>);
static_assert(!Addable<Tokens, Blocks>);
static_assert(!Addable<Tokens, std::int64_t>);
static_assert(!Comparable<Tokens, Blocks>);
static_assert(!Comparable<RequestId, TenantId>);
static_assert(!std::convertible_to<std::int64_t, Tokens>);
// Instants subtract and compare; only a span can be added to one.
static_assert(Addable<Instant, Nanos>);
static_assert(!Addable<Instant, Instant>);

// A sum that does not fit stays at the limit instead of changing sign.
TEST(Quantity, HoldsAtTheLimits) {
  EXPECT_EQ(Tokens::max() + Tokens(1), Tokens::max());
  EXPECT_EQ(Tokens(kMin) - Tokens(1), Tokens(kMin));
  EXPECT_EQ(Tokens(kMax / 2 + 1) * 2, Tokens::max());
  EXPECT_EQ(-Tokens(kMin), Tokens::max());
  Tokens sum = Tokens::max();
  sum += Tokens(5);
  EXPECT_EQ(sum, Tokens::max());
  EXPECT_EQ(seconds(kMax), Nanos::max());
}

// "No deadline" stays so whatever is added to or taken from it.
TEST(Instant, NeverAbsorbs) {
  EXPECT_EQ(Instant::never() + seconds(1), Instant::never());
  EXPECT_EQ(Instant::never() + seconds(-1), Instant::never());
  EXPECT_EQ(Instant::never() - seconds(1), Instant::never());
  EXPECT_EQ(Instant::never() - Nanos(kMin), Instant::never());
  EXPECT_EQ(Instant::never() - Instant(5), Nanos::max());
}

// A due time so late that it does not fit is later than every other, not earlier.
TEST(Instant, TooLateBecomesNever) {
  EXPECT_EQ(Instant(kMax - 1) + seconds(1), Instant::never());
  EXPECT_EQ(Instant(3) + Nanos::max(), Instant::never());
  EXPECT_LT(Instant(0) - Nanos::max(), Instant(0));
}

// t + (u - t) = u while nothing saturates.
TEST(Instant, SpansLeadFromOneInstantToTheOther) {
  for (const std::int64_t t : {std::int64_t{-7}, std::int64_t{0}, std::int64_t{1} << 60}) {
    for (const std::int64_t u : {std::int64_t{-9}, std::int64_t{4}, std::int64_t{1} << 61}) {
      EXPECT_EQ(Instant(t) + (Instant(u) - Instant(t)), Instant(u));
    }
  }
}

// One second is 10^3 milliseconds, 10^6 microseconds, 10^9 nanoseconds.
TEST(Quantity, SpansOfTimeAreInNanoseconds) {
  EXPECT_EQ(seconds(3), milliseconds(3'000));
  EXPECT_EQ(milliseconds(3), microseconds(3'000));
  EXPECT_EQ(microseconds(3), Nanos(3'000));
}

// A share of a quantity is rounded towards zero and never overflows on the way.
TEST(Quantity, ScaledByPartsPerMillion) {
  EXPECT_EQ(scaled(Tokens(10), Ppm(999'999)), Tokens(9));
  EXPECT_EQ(scaled(Tokens(-10), Ppm(999'999)), Tokens(-9));
  EXPECT_EQ(scaled(Tokens::max(), Ppm(kMillion)), Tokens::max());
  EXPECT_EQ(scaled(Tokens::max(), Ppm(2 * kMillion)), Tokens::max());
  EXPECT_EQ(scaled(Tokens(2'000'000), Ppm(1)), Tokens(2));
}

}  // namespace
}  // namespace tidegate::units
