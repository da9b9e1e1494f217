// How large a request is, computed once at the edge and carried as one value through admission,
// holding, placement, batching and shedding (law 3). Nothing downstream estimates a size again; it
// only conditions this forecast on the tokens produced so far (cost/length_forecast.h).
#pragma once

#include <array>
#include <cstddef>

#include "units/quantity.h"

namespace tidegate::domain {

// The distribution of a request's output length as eight equally likely lengths, ascending: entry i
// is the quantile at (i + 1/2) / 8. Eight points keep the tail that a mean would hide, in 64 bytes.
struct LengthForecast {
  static constexpr std::size_t kPoints = 8;
  std::array<units::Tokens, kPoints> lengths{};

  friend bool operator==(const LengthForecast&, const LengthForecast&) = default;
};

struct Footprint {
  units::Tokens prompt{0};
  units::Tokens max_output{0};  // hard limit: the engine stops there
  LengthForecast output{};      // every entry is in [1, max_output]

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

}  // namespace tidegate::domain
