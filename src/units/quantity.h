// Counted things with a type: tokens, KV blocks, bytes, spans of time in nanoseconds, and instants.
//
// A Quantity is one int64; sums and products saturate (units/integer.h). Mixing two kinds does not
// compile. Plain values, safe to share between threads.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "units/integer.h"

namespace tidegate::units {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}

  constexpr std::int64_t value() const { return value_; }
  static constexpr Quantity max() { return Quantity(std::numeric_limits<std::int64_t>::max()); }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(add_saturating(a.value_, b.value_));
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(subtract_saturating(a.value_, b.value_));
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) {
    return Quantity(multiply_saturating(a.value_, n));
  }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  friend constexpr Quantity operator/(Quantity a, std::int64_t n) { return Quantity(a.value_ / n); }
  friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  constexpr Quantity operator-() const { return Quantity(subtract_saturating(0, value_)); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

 private:
  std::int64_t value_ = 0;
};

using Tokens = Quantity<struct TokensTag>;
using Blocks = Quantity<struct BlocksTag>;
using Bytes = Quantity<struct BytesTag>;
using Nanos = Quantity<struct NanosTag>;  // a span of time, may be negative

// A point on the monotonic clock of whichever world drives the core, in nanoseconds since that
// world's own zero. Instants are compared and subtracted; only a span can be added to one.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(std::int64_t ns) : ns_(ns) {}

  constexpr std::int64_t ns() const { return ns_; }
  // Later than everything: "no deadline".
  static constexpr Instant never() { return Instant(std::numeric_limits<std::int64_t>::max()); }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Nanos d) {
    return t == never() ? t : Instant(add_saturating(t.ns_, d.value()));
  }
  friend constexpr Instant operator-(Instant t, Nanos d) {
    return t == never() ? t : Instant(subtract_saturating(t.ns_, d.value()));
  }
  friend constexpr Nanos operator-(Instant a, Instant b) {
    return a == never() ? Nanos::max() : Nanos(subtract_saturating(a.ns_, b.ns_));
  }

 private:
  std::int64_t ns_ = 0;
};

constexpr Nanos microseconds(std::int64_t n) {
  return Nanos(multiply_saturating(n, 1'000));
}
constexpr Nanos milliseconds(std::int64_t n) {
  return Nanos(multiply_saturating(n, 1'000'000));
}
constexpr Nanos seconds(std::int64_t n) {
  return Nanos(multiply_saturating(n, 1'000'000'000));
}

// Parts per million: shares, margins and probabilities without floating point.
using Ppm = Quantity<struct PpmTag>;
inline constexpr std::int64_t kMillion = 1'000'000;

// value * share, rounded towards zero.
template <class Tag>
constexpr Quantity<Tag> scaled(Quantity<Tag> value, Ppm share) {
  return Quantity<Tag>(multiply_divide(value.value(), share.value(), kMillion));
}

}  // namespace tidegate::units
