// What the engine policies of other projects share: a queue in one order, and the running list in
// order of start, whose last entry makes way when memory runs out. One owner.
#pragma once

#include "baselines/engine/step_draft.h"
#include "batch/step_policy.h"

namespace tidegate::baselines {

class QueuePolicy : public batch::StepPolicy {
 public:
  explicit QueuePolicy(batch::Core& core) : core_(core), draft_(core) {}

  // First come, first served: the order of submission. A preempted try keeps its place, which is
  // in front of all that came later.
  batch::StartKey start_key(const domain::Assign& assign) override;
  // The last one of the running list.
  bool shed_one(units::Instant now) override;

 protected:
  // A key whose order is `due`, then the order of submission.
  batch::StartKey keyed(const domain::Assign& assign, units::Instant due);
  // Every running stream takes a token, in order of start, while the step has room; the last of the
  // running list makes way for one that finds no block.
  void plan_decodes();

  batch::Core& core_;
  StepDraft draft_;

 private:
  std::int64_t submitted_ = 0;
};

}  // namespace tidegate::baselines
