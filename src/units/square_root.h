// The integer square root. Pure; constexpr.
#pragma once

#include <bit>
#include <cstdint>

namespace tidegate::units {

// A power of two whose square is above v, at most twice the root of v. REQUIRES: v >= 0.
constexpr std::int64_t above_square_root(std::int64_t v) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(v)));
  return std::int64_t{1} << ((bits + 1) / 2);
}

// Largest r with r * r <= v, by Newton's method from above. REQUIRES: v >= 0. O(log log v).
constexpr std::int64_t square_root(std::int64_t v) {
  if (v < 2) return v;
  std::int64_t r = above_square_root(v);
  for (std::int64_t next = (r + v / r) / 2; next < r; next = (r + v / r) / 2) r = next;
  return r;
}

}  // namespace tidegate::units
