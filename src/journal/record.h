// What the journal keeps: one record per step of the pool tier, in mailbox order, and the
// configuration before the first of them and wherever it was changed. Feeding the events to the
// same code with the same configuration gives the same decisions, byte for byte (invariant D1).
// Plain values; sizes and ids only, never a word of a prompt.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "domain/decision.h"
#include "domain/event.h"
#include "pool/config.h"
#include "units/quantity.h"

namespace tidegate::journal {

// One call of step(event, now) and what it answered.
struct Step {
  units::Instant now;
  domain::Event event;
  std::vector<domain::Decision> decisions;
};

// The configuration from here on: as the text that somebody wrote, for people, and as the pool got
// it, which with the name of the policy that decides is all that a replay needs.
struct Configuration {
  std::string text;
  std::string policy = "tidegate";
  pool::PoolConfig pool;
};

// A call that never reached the pool: the edge refused it. Of no effect on decisions, so that it
// may stand between any two steps and some may be missing.
struct Refused {
  units::Instant at;
  units::RequestId request;
  std::int64_t status = 0;  // of HTTP
  std::string reason;
};

using Record = std::variant<Configuration, Step, Refused>;

}  // namespace tidegate::journal
