// A promise made on one engine, and the sums over such promises that decide what else fits there.
// Plain values; the ledger that keeps them up to date is placement/engine_view.h.
#pragma once

#include <cstdint>

#include "cost/length_forecast.h"
#include "cost/step_law.h"
#include "domain/footprint.h"
#include "domain/outcome.h"
#include "domain/promise.h"
#include "domain/seam.h"
#include "pool/queueing/order.h"

namespace tidegate::pool {

using PledgeIndex = std::uint32_t;

// One request on one engine, from Assign until the engine confirms that nothing of it is left.
struct Pledge {
  domain::AttemptRef ref;
  SlotIndex slot = kNoSlot;  // kNoSlot: ended for its caller, the engine has yet to confirm
  domain::Tier tier = domain::Tier::kWithinShare;
  OrderKey key;
  domain::Promise promise;
  domain::Footprint footprint;
  units::Tokens produced{0};
  units::Tokens prefill_left{0};
  bool accepted = false;

  // As of the last refresh; predictions move only every so many tokens.
  units::Tokens held{0};     // in whole blocks
  units::Tokens context{0};  // tokens
  cost::Remaining remaining{};
  units::Tokens refresh_at{0};
  bool late = false;  // its last token missed its due time: it gates nobody
  bool used = false;

  bool ghost() const { return slot == kNoSlot; }
};

// Who takes a place on an engine, and where in the engine's order.
struct Claim {
  domain::AttemptRef ref;
  SlotIndex slot = kNoSlot;
  domain::Tier tier = domain::Tier::kWithinShare;
  OrderKey key;
};

// What gates a newcomer: sums over the pledges that would not make way for it.
struct Load {
  std::int64_t sequences = 0;
  std::int64_t decodes = 0;
  units::Tokens decode_context{0};
  units::Tokens held{0};  // foreign load included
  units::Tokens remaining{0};
  std::int64_t variance = 0;
  units::Nanos running_pace = units::Nanos::max();   // tightest of those that decode
  units::Nanos promised_pace = units::Nanos::max();  // tightest of all
  // Derived: the prefill a step can carry while all paces hold, and a step without any.
  units::Tokens chunk{1};
  units::Nanos step{0};
  Work prefill;  // still to compute
  // The mean time between two ends, taken as evenly staggered; 0 when nothing runs.
  units::Nanos end_distance{0};

  cost::StepShape decode_shape() const {
    return {.decodes = decodes, .kv_tokens = decode_context.value()};
  }
};

}  // namespace tidegate::pool
