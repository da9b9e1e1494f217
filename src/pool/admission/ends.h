// How long until so many of the sequences that run have ended, counted out from the forecast of
// each: a promise that waits for a sequence is as good as this. Where few run, the ends of few
// decide, and "evenly staggered" (sequences_drain) may be off by as much as a whole wait; where
// many run, the mean is as good and is cheaper.
#pragma once

#include "pool/placement/choose.h"

namespace tidegate::pool {

// The sequences of all candidates together that are still counted one by one.
constexpr std::int64_t kFewSequences = 64;

// The time by which `count` of the sequences that gate `tier` on the ready candidates have ended,
// with a certainty of nine in ten by their forecasts, if each engine also computes the prompts it
// has been given and `queued` more. max() when not so many run. REQUIRES: count > 0, and at most
// kFewSequences run. O(sequences x log(time)).
units::Nanos ends_of_few(const Candidates& candidates, domain::Tier tier, const Work& queued,
                         std::int64_t count);

}  // namespace tidegate::pool
