// First come, first served with prefill first, as vLLM's V0 scheduler had it (Kwon et al., SOSP
// 2023; vllm/core/scheduler.py): while a waiting prompt fits, a step computes whole prompts and
// nothing else, so that running streams stand still; only when none fits do all streams take a
// token. Starting leaves 1 % of the blocks free (its watermark). When a stream finds no block, the
// last of the running list is preempted and computed again from the front of the queue.
//
// A prompt longer than a step may be is computed in as many steps as it takes, before anything
// else; V0 wanted steps at least as long as the longest context instead. Left out: swapping,
// beam search, the scheduler delay factor (0 as shipped).
#pragma once

#include "baselines/engine/queue_policy.h"

namespace tidegate::baselines {

class PrefillFirst final : public QueuePolicy {
 public:
  explicit PrefillFirst(batch::Core& core);

  void compose(units::Instant now) override;

 private:
  void plan_begun();
  void plan_waiting();

  units::Blocks kept_free_;
};

}  // namespace tidegate::baselines
