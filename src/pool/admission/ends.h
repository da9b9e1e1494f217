// How long until so many of the sequences that run have ended: a promise that waits for a sequence
// is as good as this. Where few run they are counted one by one over the forecast of each, since
// "evenly staggered" may then be off by as much as a whole wait; where many run, the mean is as
// good and is cheaper. Holding and placement both ask here.
#pragma once

#include <cstdint>
#include <span>

#include "pool/placement/engine_view.h"

namespace tidegate::pool {

// The sequences of all engines together that are still counted one by one.
constexpr std::int64_t kFewSequences = 64;

// An engine, and the prompts that it computes before its streams go on.
struct Runner {
  const EngineView* engine = nullptr;
  Work before;
};

// The time by which `count` of the sequences of these engines that gate `tier` have ended, with a
// certainty of nine in ten by their forecasts. max() when not so many run. REQUIRES: count > 0, and
// at most kFewSequences run. O(pledges + sequences x log(time)).
units::Nanos ends_of_few(std::span<const Runner> runners, domain::Tier tier, std::int64_t count);

// The same for one engine with any number of sequences. Zero when count is not above zero.
units::Nanos sequences_wait(const Runner& runner, domain::Tier tier, std::int64_t count);

}  // namespace tidegate::pool
