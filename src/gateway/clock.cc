#include "gateway/clock.h"

namespace tidegate::gateway {
namespace {

std::chrono::steady_clock::time_point start() {
  static const auto at = std::chrono::steady_clock::now();
  return at;
}

}  // namespace

units::Instant now() {
  const auto zero = start();
  const auto since = std::chrono::steady_clock::now() - zero;
  return units::Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

std::chrono::steady_clock::time_point time_point(units::Instant at) {
  // Half of the range is centuries away and leaves room for the addition.
  constexpr std::int64_t kFar = INT64_MAX / 2;
  return start() + std::chrono::nanoseconds(at.ns() < kFar ? at.ns() : kFar);
}

std::int64_t wall_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

}  // namespace tidegate::gateway
