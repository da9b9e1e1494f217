// What the x-ratelimit headers say: a tenant's own limits as the pool's ledger sees them. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "openai/headers.h"
#include "units/quantity.h"

namespace tidegate::gateway {

struct RateLine {
  std::int64_t limit = 0;      // a minute
  std::int64_t remaining = 0;  // now
  units::Nanos reset{0};       // until the whole limit is there again
};

struct RateView {
  std::optional<RateLine> requests;
  std::optional<RateLine> tokens;
};

// x-ratelimit-{limit,remaining,reset}-{requests,tokens} for the limits that there are. The reset is
// written like OpenAI's: "120ms", "3.5s".
void append_rate_headers(const RateView& view, openai::Headers& headers);

}  // namespace tidegate::gateway
