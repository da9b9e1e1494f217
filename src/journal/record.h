// What the journal keeps: one record per step of the pool tier, in mailbox order, and the
// configuration before the first of them and wherever it was changed. Feeding the events to the
// same code with the same configuration gives the same decisions, byte for byte (invariant D1).
// Plain values; sizes and ids only, never a word of a prompt.
#pragma once

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
// it, which is all that a replay needs.
struct Configuration {
  std::string text;
  pool::PoolConfig pool;
};

using Record = std::variant<Configuration, Step>;

}  // namespace tidegate::journal
