// Everything the pool tier can be told. Events come from one mailbox with a single writer order;
// that order is the truth and is journaled. Plain values.
#pragma once

#include <variant>

#include "domain/engine_spec.h"
#include "domain/request.h"
#include "domain/seam.h"
#include "units/ids.h"

namespace tidegate::domain {

struct Arrived {
  Request request;
};

// The caller went away or asked to stop, in whatever state the request is.
struct CallerLeft {
  units::RequestId request;
};

// An engine is ready, or is back with a new epoch (then every try of the old epoch is lost).
struct EngineJoined {
  EngineSpec spec;
};

// The engine takes no new work; what runs there may finish.
struct EngineDraining {
  units::EngineId engine;
  units::Epoch epoch;
};

// The engine is gone; every try on it is lost.
struct EngineLost {
  units::EngineId engine;
  units::Epoch epoch;
};

// Time has reached the last WakeAt.
struct Tick {};

// No new admissions; when `abandon` is set, also end everything still alive with
// Outcome::kShutdown.
struct DrainRequested {
  bool abandon = false;
};

using Event = std::variant<Arrived, CallerLeft, EngineJoined, EngineDraining, EngineLost, Accepted,
                           TokensProduced, Finished, Failed, StateReport, Tick, DrainRequested>;

}  // namespace tidegate::domain
