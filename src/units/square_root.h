// The integer square root. Pure; constexpr.
#pragma once

#include <bit>
#include <cstdint>

namespace tidegate::units {

// Largest r with r * r <= v, by Newton's method from a power of two above the root, at most twice
// as large. REQUIRES: v >= 0. O(log log v).
constexpr std::int64_t square_root(std::int64_t v) {
  if (v < 2) return v;
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(v)));
  std::int64_t r = std::int64_t{1} << ((bits + 1) / 2);
  for (std::int64_t next = (r + v / r) / 2; next < r; next = (r + v / r) / 2) r = next;
  return r;
}

}  // namespace tidegate::units
