#include "domain/promise.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::domain {

bool Promise::best_effort() const {
  return first_token_due == units::Instant::never() && total_due == units::Instant::never();
}

units::Instant Promise::token_due(std::int64_t index) const {
  TIDEGATE_CHECK(index >= 0);
  if (first_token_due == units::Instant::never()) return total_due;
  if (index > 0 && token_pace == units::Nanos(0)) return total_due;
  return std::min(total_due, first_token_due + token_pace * index);
}

}  // namespace tidegate::domain
