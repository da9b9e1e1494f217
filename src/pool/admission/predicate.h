// The one question of the pool: can this engine keep this request's promise without breaking one it
// has given? Admission, holding, placement and shedding all ask it here, with the same thresholds
// (law 3; docs/architecture.md). Pure functions.
//
// Parts: (1) the first token is on time behind the work ahead, and nobody behind loses its slack;
// (2) the second token is on time; (3) at the predicted peak, with the planned prefill in each
// step, the tightest promised pace still holds, and one that is expected to be wanted (ADR 0012);
// (4) the predicted KV peak and the sequences fit, promised but unstarted requests included; (5)
// the tenant may have it.
#pragma once

#include <cstdint>

#include "domain/outcome.h"
#include "domain/request.h"
#include "pool/placement/engine_view.h"
#include "pool/queueing/order.h"

namespace tidegate::pool {

enum class Part : std::uint8_t { kNone, kFirstToken, kSecondToken, kPace, kMemory, kEntitlement };

// What the predicate is asked about.
struct Ask {
  const domain::Request* request = nullptr;
  domain::Tier tier = domain::Tier::kWithinShare;
  OrderKey key;          // its due is when the first token is needed at the latest
  bool entitled = true;  // part 5, which is the tenant's and not the engine's
  // A pace that part 3 keeps too, for those who may come next; where another engine has room for
  // them, not on one that is too slow for them already.
  units::Nanos expected_pace = units::Nanos::max();
  bool expected_elsewhere = false;
};

struct Verdict {
  bool ok = false;
  Part part = Part::kNone;  // the first that failed
  domain::Reason reason = domain::Reason::kNone;
  domain::Resource full = domain::Resource::kNone;
  units::Nanos drains_in{0};  // until exactly that is predicted to be there
  // A part that only a measured law may enforce failed, and the law is not measured.
  bool shadow_failure = false;
  units::Nanos added_prefill{0};
  units::Nanos step_after{0};
};

// When `ask`'s first token is predicted on this engine, with `queued` more work ahead of it.
units::Instant first_token_at(const Ask& ask, const EngineView& engine, const Work& queued,
                              units::Instant now);
// Would the first token be late even if the request were alone in line? Then waiting is hopeless on
// this engine. Always false while the engine's law is not measured and the due time is ahead.
bool hopeless(const Ask& ask, const EngineView& engine, units::Instant now);
// The last moment at which it is not, by the same estimate; its due time for an unmeasured law.
units::Instant hopeless_after(const Ask& ask, const EngineView& engine);

// An engine with nothing that gates the newcomer takes whatever can ever fit and is not overdue,
// because a law that is wrong must not keep it idle. REQUIRES: the engine serves the request's
// model. O(prefilling), or O(pledges log pledges) when KV is nearly full.
Verdict feasible(const Ask& ask, const EngineView& engine, const PoolPolicy& policy,
                 units::Instant now);

// Does a step at the predicted peak of what gates `tier` keep the pace? O(pledges) at most.
bool keeps_pace(const EngineView& engine, const PoolPolicy& policy, domain::Tier tier,
                units::Nanos pace);

// Mean time until `count` of the sequences that gate `tier` have ended, and until they have given
// back `tokens` of KV, ends taken as evenly staggered: for who is refused, for which engine to wait
// for, and for who waits for memory or pace. Who waits for a sequence waits by admission/ends.h.
units::Nanos sequences_drain(const EngineView& engine, domain::Tier tier, std::int64_t count);
units::Nanos memory_drain(const EngineView& engine, domain::Tier tier, units::Tokens tokens);

}  // namespace tidegate::pool
