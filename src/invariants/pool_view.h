// A copy of what the pool tier holds, as plain values: what the oracle checks, and what a test can
// alter to see that the oracle notices.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/seam.h"
#include "pool/scheduler.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::invariants {

// One try that is booked on an engine; `ended` when its request has ended and the engine has yet to
// confirm that nothing of it is left.
struct BookedTry {
  domain::AttemptRef ref;
  units::Tokens produced{0};
  bool ended = false;
};

struct BookedEngine {
  units::EngineId id;
  units::Epoch epoch;
  bool ready = false;
  std::vector<BookedTry> tries;
};

struct TenantView {
  units::TenantId id;
  std::int64_t alive = 0;
  std::int64_t on_engines = 0;
  std::int64_t reserved_tokens = 0;
};

struct PoolView {
  std::vector<pool::LiveView> requests;
  std::vector<BookedEngine> engines;
  std::vector<TenantView> tenants;
};

// Everything, copied: O(live requests + engines + tenants).
PoolView view_of(const pool::Scheduler& scheduler);

}  // namespace tidegate::invariants
