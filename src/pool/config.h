// What the pool tier is configured with: who may ask for what, how much it may hold, and the
// numbers of its policies. Plain values; the pool keeps its own copy.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/service_class.h"
#include "domain/tenant.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::pool {

// Bounds on what the pool holds (invariant S15). Memory is allocated for them once.
struct PoolLimits {
  std::int64_t max_requests = 16'384;  // alive: waiting and on engines
  std::int64_t max_queued = 10'000;    // waiting
  std::int64_t max_engines = 256;

  friend bool operator==(const PoolLimits&, const PoolLimits&) = default;
};

struct PoolPolicy {
  // Share of an engine's KV blocks that predictions never fill.
  units::Ppm kv_watermark{30'000};
  // Standard deviations added to the predicted KV peak, in thousandths.
  std::int64_t peak_z_thousandths = 1'650;
  // Share of the tightest promised token pace that a step may take at the predicted KV peak.
  units::Ppm pace_share{900'000};
  // Requests that an engine which batches with our scheduler is given beyond its sequences, when
  // prompts that are due later share its steps with streams: it lets the streams end first.
  std::int64_t ahead = 1;
  // A step is assumed to carry at least this much prefill.
  units::Tokens chunk_floor{16};
  // Best effort gets at least this share of the work that is dispatched while it waits.
  units::Ppm drip{30'000};
  // Repeated requests of a tenant that may wait, as a share of its first tries.
  units::Ppm retry_budget{100'000};
  // How often one that does not fit may be passed by others, and how far the search looks.
  std::int64_t max_bypass = 8;
  std::int64_t scan_depth = 8;
  // A tenant may be this much engine time ahead of the least served and still be within its share.
  units::Nanos share_slack = units::milliseconds(20);
  // While more is asked for than engines can do, the largest requests of whoever asks for more than
  // its share are held back so that the queue takes this part of a newcomer's time; 0 = never.
  units::Ppm queue_target{150'000};
  // The same for a tenant that would rather queue than be refused.
  units::Ppm patient_queue_target{500'000};
  // Waiting requests outlive the last engine of their model by this much, if they are not due
  // before.
  units::Nanos no_engine_grace = units::seconds(10);
  units::Nanos no_engine_retry = units::seconds(1);
  // A stream that has begun may pass its total deadline by this much before it is cut.
  units::Nanos deadline_grace = units::seconds(5);
};

struct PoolConfig {
  std::vector<domain::ServiceClass> classes;
  std::vector<domain::Tenant> tenants;  // small dense ids
  std::vector<units::ModelId> models;   // small dense ids
  PoolLimits limits;
  PoolPolicy policy;
  std::uint64_t seed = 1;
};

}  // namespace tidegate::pool
