// When a waiting request is predicted to start, given what goes first: the pool's answer to "how
// long?" for holds, for shedding at arrival and for retry hints. The engines of a model are taken
// as sharing the queue evenly, and ends of running sequences, where many run, as evenly staggered.
// Pure.
#pragma once

#include "pool/admission/predicate.h"
#include "pool/placement/choose.h"

namespace tidegate::pool {

struct Expectation {
  std::int64_t position = 0;
  units::Instant start = units::Instant::never();
  units::Instant first_token = units::Instant::never();
  domain::Reason reason = domain::Reason::kNone;  // what it waits for longest
  domain::Resource full = domain::Resource::kNone;
  // Every ready engine's law is measured: the times may be enforced.
  bool measured = true;
};

// never() when no candidate is ready. O(candidates), and where few sequences run ends_of_few().
Expectation expect(const Ask& ask, const Candidates& candidates, const Work& queued,
                   units::Instant now);

// Predicted time until this pledge ends. REQUIRES: it has an owner. O(1), O(prefilling) before its
// first token.
units::Nanos pledge_drain(const EngineView& engine, const Pledge& pledge);

// Predicted time until one place in the queue of these engines is free.
units::Nanos queue_drain(const Candidates& candidates, domain::Tier tier);

}  // namespace tidegate::pool
