// A step in the making, for the engine policies of other projects: decodes and prompt chunks are
// added one by one, each only if the memory for it is there, and committed once at the end. What a
// policy decides is the order of the calls, and who is preempted when one of them finds no memory.
//
// Preemptions come before the first start of a step (batch/kv_blocks.h). One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "batch/core.h"
#include "cost/step_law.h"
#include "units/quantity.h"

namespace tidegate::baselines {

using batch::Index;

class StepDraft {
 public:
  explicit StepDraft(batch::Core& core);

  // An empty step with room for so many tokens, at most as many as the engine takes.
  void begin(units::Tokens budget, units::Instant now);
  // Writes what was added as the core's plan.
  void commit();

  const cost::StepShape& shape() const { return shape_; }
  units::Tokens tokens_left() const { return units::Tokens(tokens_left_); }
  // Did this step preempt?
  bool preempted() const { return preempted_; }

  // The next token of a running stream. False, and nothing done, when it needs a block and there is
  // none, or no token is left.
  bool add_decode(Index index);
  // The next tokens of a running prompt, at most `limit`. False when there is no block for it; true
  // also when no token is left and nothing was added.
  bool add_chunk(Index index, units::Tokens limit);

  enum class Start : std::uint8_t { kStarted, kNoSlot, kNoTokens, kNoMemory };
  struct StartRule {
    units::Tokens limit = units::Tokens::max();  // of the first chunk
    bool whole_prompt = false;                   // memory for all of it, not for the chunk only
    bool unchunked = false;                      // all of it in this step, or not at all
    units::Blocks kept_free{0};                  // blocks that starting must leave
  };
  // A waiting try starts with its first chunk.
  Start start(Index index, const StartRule& rule);

  // Back to waiting, everything to be computed again. REQUIRES: running, and nothing was started in
  // this step.
  void preempt(Index index);

 private:
  units::Tokens affordable(const batch::Sequence& sequence, units::Tokens context,
                           units::Tokens limit) const;
  void take(batch::Sequence& sequence, units::Tokens chunk);

  batch::Core& core_;
  units::Instant now_;
  cost::StepShape shape_;
  std::int64_t tokens_left_ = 0;
  bool preempted_ = false;
  std::vector<Index> decodes_;
};

}  // namespace tidegate::baselines
