// Saturating and widened integer arithmetic. Overflow never wraps: a sum that does not fit stays at
// the limit, so an absurd input can become "for ever", but never "most urgent of all".
#pragma once

#include <cstdint>
#include <limits>

namespace tidegate::units {

__extension__ typedef __int128 Int128;

// a + b, held at the limits of int64.
constexpr std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

// a - b, held at the limits of int64.
constexpr std::int64_t subtract_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

// v as int64, held at its limits.
constexpr std::int64_t narrow_saturating(Int128 v) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  if (v > kMax) return kMax;
  if (v < kMin) return kMin;
  return static_cast<std::int64_t>(v);
}

// a * b, held at the limits of int64.
constexpr std::int64_t multiply_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max()
                            : std::numeric_limits<std::int64_t>::min();
}

// value / divisor, rounded towards zero and held at the limits of int64. A value that fits 64 bits,
// as nearly all do, is divided in 64 bits. REQUIRES: divisor > 0.
constexpr std::int64_t divide_narrow(Int128 value, std::int64_t divisor) {
  const auto low = static_cast<std::int64_t>(value);
  return low == value ? low / divisor : narrow_saturating(value / divisor);
}

// a * numerator / denominator without intermediate overflow, rounded towards zero.
// REQUIRES: denominator != 0.
constexpr std::int64_t multiply_divide(std::int64_t a, std::int64_t numerator,
                                       std::int64_t denominator) {
  const Int128 product = static_cast<Int128>(a) * numerator;
  if (denominator > 0) return divide_narrow(product, denominator);
  return narrow_saturating(product / denominator);
}

// Smallest q with q * divisor >= value. REQUIRES: value >= 0, divisor > 0.
constexpr std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace tidegate::units
