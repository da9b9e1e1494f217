// The part of the engine tier that decides: who runs in the next step, with how many tokens, and
// who makes way. Everything else of a batch scheduler (taking tries in, committing steps, memory,
// failed steps, the one end of each try) is the same for every policy, so that policies differ in
// what they decide and in nothing else. The house's own is Composer; those of other projects are
// in baselines/. One owner: the BatchScheduler that it was made for.
#pragma once

#include <functional>
#include <memory>

#include "batch/sequence.h"
#include "domain/seam.h"
#include "units/quantity.h"

namespace tidegate::batch {

struct Core;

class StepPolicy {
 public:
  virtual ~StepPolicy() = default;

  // A new try is about to wait: its place in the queue.
  virtual StartKey start_key(const domain::Assign& assign) = 0;
  // Fills the core's plan. REQUIRES: no plan is outstanding.
  virtual void compose(units::Instant now) = 0;
  // Preempts the running sequence that it values least; false when fewer than two run.
  // REQUIRES: no plan is outstanding.
  virtual bool shed_one(units::Instant now) = 0;
};

// Makes the policy that decides over `core`, which outlives it.
using StepPolicyFactory = std::function<std::unique_ptr<StepPolicy>(Core& core)>;

}  // namespace tidegate::batch
