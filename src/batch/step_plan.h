// The plan of one engine step, as the batch tier composed it and as an engine performs it: first
// the trims, then the copies, then one forward pass over the rows, exactly as written. Plain
// values.
//
// Slots are the engine's own sequence numbers, 0 <= slot < EngineLimits::max_sequences plus the
// cached ones the block table retains. Positions count tokens of one sequence from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/step_law.h"
#include "domain/seam.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::batch {

using Slot = std::int32_t;

// Forget everything of `slot` at positions >= keep (0 = the whole slot).
struct Trim {
  Slot slot = 0;
  units::Tokens keep{0};
};

// Let `to` share the first `length` tokens of `from`. `to` is empty before.
struct Copy {
  Slot from = 0;
  Slot to = 0;
  units::Tokens length{0};
};

// Compute tokens [from, from + count) of a request's sequence in `slot`. A sequence is its prompt
// followed by the tokens it has produced; after a preemption both are computed again. A decode is a
// row of one token. `samples` is set when the row reaches the end of the sequence, so that its last
// logits give the next output token.
struct Row {
  domain::AttemptRef ref;
  Slot slot = 0;
  units::Tokens from{0};
  units::Tokens count{0};
  bool decode = false;
  bool samples = false;
};

struct StepPlan {
  std::int64_t number = 0;  // increases by one with each plan; results name it
  std::vector<Trim> trims;
  std::vector<Copy> copies;
  std::vector<Row> rows;
  cost::StepShape shape;
  units::Nanos predicted{0};  // mean step time by the law

  // Nothing to compute; trims may still be there and must be performed.
  bool idle() const { return rows.empty(); }
};

// What one sampling row gave. `ended` when the engine saw a stop (end of text, stop string); the
// limit max_output is the batch tier's own business.
struct RowResult {
  domain::AttemptRef ref;
  bool ended = false;
};

struct StepResult {
  std::int64_t number = 0;
  units::Nanos duration{0};
  std::vector<RowResult> sampled;  // one for each row with `samples`, in plan order
};

}  // namespace tidegate::batch
