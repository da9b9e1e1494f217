// vLLM's V1 engine (vllm/v1/core/sched/scheduler.py, releases 0.8 to 0.19; PagedAttention is Kwon
// et al., SOSP 2023). There is no prefill phase and no decode phase: each step has a budget of
// tokens (max_num_batched_tokens). First the running list, in order of start, takes what each
// sequence has pending, one token or the next chunk of its prompt; when a block is missing, the
// last of the running list is preempted, to be recomputed from the front of the waiting queue.
// Then, unless the step preempted, waiting ones start in order of arrival, as long as the budget
// and max_num_seqs last and there are free blocks for all of the sequence as it is now
// (scheduler_reserve_full_isl, on by default); the first that does not fit ends the step.
//
// The engine's limits are vLLM's settings: max_sequences is max_num_seqs (256 by default, 1,024 on
// H100 and later), max_step_tokens is max_num_batched_tokens (2,048; 8,192 there). `watermark` is
// the share of blocks that starting leaves free beside other running ones: 0 as shipped.
//
// Left out: speculative decoding, LoRA and encoder budgets, long_prefill_token_threshold (off by
// default), blocks of generated tokens in the prefix cache (the block table caches prompts), and
// asynchronous scheduling, which hides the scheduler's own time (a simulated one has none).
#pragma once

#include "baselines/engine/queue_policy.h"

namespace tidegate::baselines {

class VllmV1 : public QueuePolicy {
 public:
  explicit VllmV1(batch::Core& core, units::Ppm watermark = units::Ppm(0));

  void compose(units::Instant now) override;

 protected:
  // Starts waiting ones.
  virtual void plan_waiting();
  StepDraft::StartRule start_rule() const {
    return {.whole_prompt = true, .kept_free = kept_free_};
  }

 private:
  void plan_running();
  bool add(Index index);

  units::Blocks kept_free_;
};

}  // namespace tidegate::baselines
