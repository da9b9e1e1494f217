#include "units/integer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "units/prng.h"
#include "units/square_root.h"

namespace tidegate::units {
namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();

// The exact result in 128 bits, held at the limits: the law that all of this room's sums obey.
std::int64_t clamp(Int128 exact) {
  if (exact > kMax) return kMax;
  if (exact < kMin) return kMin;
  return static_cast<std::int64_t>(exact);
}

// The limits, their neighbours, zero, and numbers of every magnitude in between.
std::vector<std::int64_t> interesting_numbers() {
  std::vector<std::int64_t> numbers = {kMin, kMin + 1, -2, -1, 0, 1, 2, kMax - 1, kMax};
  Prng prng(1);
  for (int shift = 1; shift < 63; ++shift) {
    const auto magnitude = static_cast<std::int64_t>(prng.next() >> shift);
    numbers.push_back(magnitude);
    numbers.push_back(-magnitude);
  }
  return numbers;
}

// Sum, difference and product equal the exact ones, held at the limits, for all pairs of numbers.
TEST(Integer, SaturatingArithmeticIsTheExactResultHeldAtTheLimits) {
  for (const std::int64_t a : interesting_numbers()) {
    for (const std::int64_t b : interesting_numbers()) {
      ASSERT_EQ(add_saturating(a, b), clamp(Int128{a} + b)) << a << " + " << b;
      ASSERT_EQ(subtract_saturating(a, b), clamp(Int128{a} - b)) << a << " - " << b;
      ASSERT_EQ(multiply_saturating(a, b), clamp(Int128{a} * b)) << a << " * " << b;
    }
  }
}

// a * n / d is rounded towards zero, never overflows on the way, and is held at the limits.
TEST(Integer, MultiplyDivideIsExactInBetween) {
  const auto numbers = interesting_numbers();
  Prng prng(2);
  const auto pick = [&] { return numbers[prng.below(numbers.size())]; };
  for (int round = 0; round < 200'000; ++round) {
    const std::int64_t a = pick();
    const std::int64_t n = pick();
    const std::int64_t d = pick();
    if (d == 0) continue;
    const Int128 quotient = multiply_divide(a, n, d);
    const Int128 product = Int128{a} * n;
    if (quotient == kMax || quotient == kMin) {
      ASSERT_EQ(clamp(product / d), quotient);
      continue;
    }
    // Truncation: the remainder is smaller than the divisor and has the sign of the product.
    const Int128 remainder = product - quotient * d;
    const Int128 divisor = d < 0 ? -Int128{d} : Int128{d};
    ASSERT_LT(remainder < 0 ? -remainder : remainder, divisor) << a << " * " << n << " / " << d;
    ASSERT_TRUE(remainder == 0 || (remainder < 0) == (product < 0)) << a << " " << n << " " << d;
  }
}

// divide_up(v, d) is the smallest q with q * d >= v.
TEST(Integer, DivideUpIsTheSmallestSufficientQuotient) {
  for (const std::int64_t value : interesting_numbers()) {
    for (const std::int64_t divisor : interesting_numbers()) {
      if (value < 0 || divisor <= 0) continue;
      const Int128 quotient = divide_up(value, divisor);
      ASSERT_GE(quotient * divisor, value);
      ASSERT_TRUE(quotient == 0 || (quotient - 1) * divisor < value) << value << " " << divisor;
    }
  }
}

// r is the root of v exactly when r * r <= v < (r + 1) * (r + 1).
TEST(Integer, SquareRootIsTheLargestThatFits) {
  for (const std::int64_t v : interesting_numbers()) {
    if (v < 0) continue;
    const Int128 r = square_root(v);
    ASSERT_LE(r * r, Int128{v}) << v;
    ASSERT_GT((r + 1) * (r + 1), Int128{v}) << v;
  }
}

}  // namespace
}  // namespace tidegate::units
