// Where the tokens of the batch tier's slots are in a llama.cpp context: performs the trims and
// copies of a plan and says which of llama.cpp's sequences each row computes in. Two kinds, as the
// context was made:
//
// One pool (kv_unified): slot s is sequence s, running or cached, and a copy shares cells.
//
// A stream of its own for each sequence: only running slots have one. llama.cpp computes streams
// that are neighbours in one pass over the weights and begins another at every gap
// (llama-batch.cpp, split_equal), so they are kept dense: a new slot takes the lowest free stream,
// and where one ended in between the highest moves into its place. A cached prefix is taken out of
// its stream into a buffer of exactly its size (llama_state_seq_get_data) and put back for each
// slot that begins with it. One owner, on the engine's thread.
#pragma once

#include <cstdint>
#include <memory>

#include "batch/kv_blocks.h"
#include "batch/step_plan.h"
#include "engines/llama/handles.h"
#include "engines/llama/model.h"
#include "units/quantity.h"

namespace tidegate::engines::llama {

class SlotMemory {
 public:
  // REQUIRES: `context` was made with these sizes and outlives this.
  static std::unique_ptr<SlotMemory> make(llama_context* context, const Sizes& sizes);
  virtual ~SlotMemory() = default;

  // The plan's trims, then its copies; after it every row has a sequence. `kv` is the table that
  // the plan was made from. Linear in the tokens that move and the cells of what is trimmed.
  // False: llama.cpp refused, and what its sequences hold cannot be trusted.
  virtual bool arrange(const batch::StepPlan& plan, const batch::KvBlocks& kv) = 0;
  // REQUIRES: the slot has a row in the plan arranged last.
  virtual std::int32_t sequence(batch::Slot slot) const = 0;
  // Empty sequences that are neighbours of all those in use, behind them: where rows can be added
  // that nobody reads.
  struct Spare {
    std::int32_t first = 0;
    std::int32_t count = 0;
  };
  virtual Spare spare() const = 0;
  // Tokens held, added up over all slots: a shared one counts for each.
  virtual units::Tokens held() const = 0;
};

}  // namespace tidegate::engines::llama
