// A tenant: whose work it is, what it may use and what was promised to it. Plain configuration
// values; credentials are not here, they stay in the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// What a tenant wants when its promise cannot be kept at arrival.
enum class OnOverload : std::uint8_t { kReject, kQueue, kDowngrade };

// Limits of one tenant; nullopt = no limit. A limit is never passed, also not by concurrent
// requests: it is reserved at admission and settled at the end (invariant S8).
struct TenantLimits {
  std::optional<std::int64_t> requests_per_min;
  std::optional<units::Tokens> tokens_per_min;
  std::optional<std::int64_t> in_flight;
  std::optional<std::int64_t> queued;
};

// A guaranteed envelope: within it the tenant's requests run in tier 0.
struct Guarantee {
  units::Tokens tokens_per_s{0};
  units::Tokens burst_tokens{0};
  units::Tokens prompt_tokens{0};  // largest prompt covered
  units::Tokens output_tokens{0};  // largest output covered
};

struct Tenant {
  units::TenantId id;
  std::string name;
  units::ClassId default_class;
  std::int64_t weight = 1;  // entitlement; shares are proportional to it
  OnOverload on_overload = OnOverload::kReject;
  std::vector<units::ModelId> models;  // empty = every model
  TenantLimits limits;
  std::optional<Guarantee> guarantee;
};

}  // namespace tidegate::domain
