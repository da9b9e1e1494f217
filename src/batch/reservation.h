// Will the memory be enough, not now but at the worst moment to come? Answers for the running
// sequences, with some left out (victims) and one added (a candidate), by the predicted peak over
// time (cost/peak.h; scheduling, 6): never by max_tokens, never by the first chunk alone.
//
// Blocks that several running sequences share are counted once. Scratch is kept between calls, so
// nothing is allocated. One owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/core.h"
#include "cost/peak.h"

namespace tidegate::batch {

class Reservation {
 public:
  explicit Reservation(Core& core);

  // The predicted peak of all running sequences except `without`, and of `candidate` started with
  // `hit`, fits the believed capacity less the watermark; true when the candidate would be alone.
  // O(n log n).
  bool fits(Index candidate, const KvBlocks::Hit& hit, std::span<const Index> without);

 private:
  cost::Resident resident(Sequence& sequence, std::int64_t shared_blocks) const;
  std::int64_t shared_prefix(Sequence& sequence) const;

  Core& core_;
  std::vector<cost::Resident> residents_;
};

}  // namespace tidegate::batch
