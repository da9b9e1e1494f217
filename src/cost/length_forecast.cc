#include "cost/length_forecast.h"

#include <algorithm>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::cost {

using domain::LengthForecast;
using units::Tokens;

namespace {

// Nothing in the forecast is longer than `produced`: assume half as much again, at most `room`.
Remaining beyond_forecast(Tokens produced, Tokens room) {
  const Tokens mean = std::min(room, std::max(Tokens(1), produced / 2));
  return {mean, units::multiply_saturating(mean.value(), mean.value())};
}

}  // namespace

Remaining remaining(const domain::Footprint& footprint, Tokens produced) {
  TIDEGATE_CHECK(produced.value() >= 0);
  const Tokens room = footprint.max_output - produced;
  if (room.value() <= 0) return {};

  std::int64_t count = 0;
  std::int64_t sum = 0;
  units::Int128 squares = 0;
  for (const Tokens length : footprint.output.lengths) {
    if (length <= produced) continue;
    const std::int64_t rest = std::min(length - produced, room).value();
    count += 1;
    sum = units::add_saturating(sum, rest);
    squares += units::Int128{rest} * rest;
  }
  if (count == 0) return beyond_forecast(produced, room);
  const units::Int128 variance =
      (squares * count - units::Int128{sum} * sum) / (units::Int128{count} * count);
  return {Tokens(units::divide_up(sum, count)), units::narrow_saturating(variance)};
}

LengthForecast certain(Tokens length) {
  TIDEGATE_CHECK(length.value() >= 1);
  LengthForecast forecast;
  forecast.lengths.fill(length);
  return forecast;
}

LengthForecast uninformed(Tokens max_output, Tokens cap) {
  const std::int64_t top = std::max<std::int64_t>(1, std::min(max_output, cap).value());
  constexpr auto kPoints = static_cast<std::int64_t>(LengthForecast::kPoints);
  LengthForecast forecast;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const std::int64_t length = units::multiply_divide(top, 2 * i + 1, 2 * kPoints);
    forecast.lengths[static_cast<std::size_t>(i)] = Tokens(std::max<std::int64_t>(1, length));
  }
  return forecast;
}

}  // namespace tidegate::cost
