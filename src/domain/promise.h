// What was promised to one request: when its first token is due, at what pace the others follow, or
// by when all of it must be there. A plain value, fixed at arrival and never changed afterwards
// except by an agreed downgrade.
#pragma once

#include <cstdint>

#include "units/quantity.h"

namespace tidegate::domain {

struct Promise {
  units::Instant first_token_due = units::Instant::never();
  units::Nanos token_pace{0};  // time per output token (TPOT); 0 = no pace promised
  units::Instant total_due = units::Instant::never();

  // No promise at all: served from what is left over.
  bool best_effort() const;
  // When output token `index` is due; index 0 is the first token. never() when nothing is promised.
  // REQUIRES: index >= 0.
  units::Instant token_due(std::int64_t index) const;

  friend bool operator==(const Promise&, const Promise&) = default;
};

}  // namespace tidegate::domain
