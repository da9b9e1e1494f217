// The seam between the pool tier and the engine tier, the same in all three worlds. Down go Assign
// and Abort; up come the five engine events. Plain values; they carry counts, never text.
#pragma once

#include <cstdint>

#include "domain/engine_spec.h"
#include "domain/outcome.h"
#include "domain/request.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// Names one try of one request on one life of one engine. Events that do not match the live try are
// dropped and counted, never asserted (invariant S5).
struct AttemptRef {
  units::RequestId request;
  units::Attempt attempt;
  units::EngineId engine;
  units::Epoch epoch;

  friend bool operator==(const AttemptRef&, const AttemptRef&) = default;
};

struct Usage {
  units::Tokens prompt{0};
  units::Tokens cached_prompt{0};
  units::Tokens output{0};

  friend bool operator==(const Usage&, const Usage&) = default;
};

// Down: run this request. Due times, footprint and prefix travel inside the request.
struct Assign {
  AttemptRef ref;
  Request request;
  Tier tier = Tier::kWithinShare;
};

// Down: stop this try and free what it holds, within one step.
struct Abort {
  AttemptRef ref;
};

// Up: the engine has taken responsibility for the try.
struct Accepted {
  AttemptRef ref;
};

// Up: `count` more output tokens exist. The first event of a try marks its first token.
struct TokensProduced {
  AttemptRef ref;
  units::Tokens count{0};
};

// Up: the try ended by itself or by Abort; everything it held on the engine is free.
struct Finished {
  AttemptRef ref;
  Outcome outcome = Outcome::kCompleted;
  Usage usage;
};

// Up: the try cannot go on (the engine refused it or broke under it); nothing of it is held.
struct Failed {
  AttemptRef ref;
  Reason reason = Reason::kEngineError;
};

// Up: what the engine tier holds now. The pool's own ledger stays the truth about promises; this
// corrects what it cannot know (cache contents, backlog, speed).
struct StateReport {
  units::EngineId engine;
  units::Epoch epoch;
  units::Blocks kv_used{0};    // referenced by running sequences
  units::Blocks kv_cached{0};  // reclaimable
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  units::Tokens prefill_backlog{0};  // prompt tokens still to compute, running and waiting
  units::Instant step_end;           // predicted end of the running step; <= now when idle
  units::Ppm law_correction{units::kMillion};
  std::int64_t preemptions_total = 0;
};

}  // namespace tidegate::domain
