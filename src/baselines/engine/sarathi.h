// Sarathi-Serve (Agrawal et al., OSDI 2024; scheduler of microsoft/sarathi-serve): every step takes
// all running decodes first, then goes on with prompts that have begun, then starts waiting ones,
// as long as a static budget of tokens lasts. A prompt starts when there are blocks for all of it;
// the first that does not fit ends the step. When a decode finds no block, the last of the running
// list is preempted and computed again.
//
// Sarathi serves in order of arrival; SarathiEdf is the same with prompts in order of the due time
// of their first token (of the whole answer, where that is what was promised), as the baseline in
// QoServe's evaluation: an earlier deadline also passes prompts that have begun.
//
// The budget is 512 tokens, the paper's choice for strict token paces, or what the engine takes, if
// that is less. Left out: pipeline parallel micro-batches.
#pragma once

#include "baselines/engine/queue_policy.h"

namespace tidegate::baselines {

class Sarathi : public QueuePolicy {
 public:
  static constexpr units::Tokens kChunk{512};

  explicit Sarathi(batch::Core& core) : QueuePolicy(core) {}

  void compose(units::Instant now) override;

 private:
  void plan_prompts();
  bool give(Index index);
};

class SarathiEdf final : public Sarathi {
 public:
  explicit SarathiEdf(batch::Core& core) : Sarathi(core) {}

  batch::StartKey start_key(const domain::Assign& assign) override;
};

}  // namespace tidegate::baselines
