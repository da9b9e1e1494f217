// The terms on which a request is taken: its class and the promise, from the class, the caller's
// hints and what the tenant allows. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/server_config.h"
#include "domain/promise.h"
#include "openai/hints.h"
#include "units/ids.h"
#include "units/result.h"

namespace tidegate::gateway {

// What a caller asks for, beyond its class.
struct Wishes {
  openai::Hints hints;
  // `priority` of the body: LOWER IS MORE URGENT, 0 is the class's own time. Each step doubles the
  // time to the first token (or the deadline of a class without one); each step below 0 halves it.
  std::int32_t priority = 0;
};
// Further steps than this have no further effect.
inline constexpr std::int32_t kPrioritySteps = 8;

// A promise relative to the arrival.
struct Terms {
  units::ClassId service_class;
  std::optional<units::Nanos> ttft;
  std::optional<units::Nanos> tpot;
  std::optional<units::Nanos> deadline;

  // The promise to a request that arrived then.
  domain::Promise promise(units::Instant arrival) const;
};

// The class asked for (by x-tidegate-class, or by the inference objective when a class has that
// name), else the tenant's own; its times, loosened as far as the hints ask and tightened no
// further than the tenant's floor. Hints of a kind that the class does not promise count as
// tightening. A priority moves the class's time within the same bounds, where no hint says it
// exactly. Error: the class is unknown or not the tenant's (the same answer for both).
units::Result<Terms> agree(const Wishes& wishes, const config::TenantConfig& tenant,
                           const std::vector<domain::ServiceClass>& classes);

}  // namespace tidegate::gateway
