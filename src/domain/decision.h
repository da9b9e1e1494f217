// Everything the pool tier can decide. The shell performs decisions in order and answers only with
// new events. Plain values.
#pragma once

#include <cstdint>
#include <variant>

#include "domain/outcome.h"
#include "domain/seam.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// The request was accepted: from here on its promise is ours to keep.
struct Admit {
  units::RequestId request;
  Tier tier = Tier::kWithinShare;
};

// The request waits outside the engines. Sent when it starts to wait and again when its place in
// the queue changed noticeably, so that a streaming caller can be told.
struct Hold {
  units::RequestId request;
  Reason reason = Reason::kNone;  // what it waits for
  std::int64_t position = 0;      // requests that go first
  units::Instant eta;             // predicted start; never: it cannot be told
  units::Instant hopeless_after;  // when it will be shed if it has not started
};

// The one terminal decision of a request, whatever the cause. Everything it held is released.
// For refusals `full` names what ran out and `retry_after` predicts when exactly that has drained.
struct End {
  units::RequestId request;
  Outcome outcome = Outcome::kCompleted;
  Reason reason = Reason::kNone;
  Resource full = Resource::kNone;
  units::Nanos retry_after{0};  // 0 = retrying will not help, or not a refusal
};

// The promise was loosened as the tenant opted in to.
struct Downgrade {
  units::RequestId request;
  Promise promise;
};

// Call step(Tick) no later than this. The last one given holds.
struct WakeAt {
  units::Instant at;
};

using Decision = std::variant<Admit, Hold, End, Downgrade, Assign, Abort, WakeAt>;

}  // namespace tidegate::domain
