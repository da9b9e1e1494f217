// What the batch tier's parts work on: the policy numbers, the learned law, the block table, the
// tries, the plan in the making and the events not yet taken. The few ways in which a try changes
// hands are here, so that each happens in one place: the one release path is end(). One owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/batch_config.h"
#include "batch/batch_scheduler.h"
#include "batch/kv_blocks.h"
#include "batch/sequence.h"
#include "batch/step_plan.h"
#include "cost/step_law.h"

namespace tidegate::batch {

using Index = SequenceTable::Index;

struct Core {
  explicit Core(const BatchConfig& given);

  BatchConfig config;
  cost::StepLaw law;
  KvBlocks kv;
  SequenceTable sequences;
  BatchCounters counters;
  StepPlan plan;
  std::vector<Index> row_sequences;  // beside plan.rows
  std::vector<EngineEvent> events;

  bool outstanding = false;
  units::Instant step_start;
  std::int64_t prefill_cap = 0;  // tokens; less than the engine's limit after a failed step
  std::int64_t failures_in_row = 0;
  std::int64_t good_steps = 0;     // since the last failed one or the last recovered block
  std::int64_t starved_steps = 0;  // with prompts to compute, and none computed
  units::Nanos floor_saved{0};     // of step time, for the oldest prompt

  std::int64_t block_tokens() const { return config.spec.kv.block_tokens.value(); }

  // Time to compute what is pending of the sequence, alone, with `cached` tokens found; guarded.
  units::Nanos own_work(const Sequence& sequence, units::Tokens cached) const;
  // Place of a try that has not been demoted, in the house's order.
  StartKey start_key(const domain::Assign& assign) const;
  // When its first token is "due" where nothing is promised, or no longer.
  units::Instant virtual_due(const domain::Request& request) const;
  // Towards the promise of the next token, when `work` must be done before it.
  Status status(const Sequence& sequence, units::Instant now, units::Nanos work) const;
  // What it is still expected to produce; the survival function is read every
  // config.forecast_refresh tokens.
  cost::Remaining remaining(Sequence& sequence) const;

  // Empties the plan for a new one.
  void begin_plan();
  // A waiting try starts in a slot of its own, with what the cache holds of it.
  // REQUIRES: as KvBlocks::open().
  void open(Index index, const KvBlocks::Hit& hit);
  // Writes the rows: `decodes` first, then every other running sequence that takes tokens. What
  // they take has its blocks, and `shape` counts it. Hands over the trims.
  void write_plan(std::span<const Index> decodes, const cost::StepShape& shape, units::Instant now);

  // Drops what the slot holds; the try waits to be computed again. REQUIRES: running.
  void preempt(Index index);
  // The try shall end: at once, or with the running step if that computes it.
  void stop(Index index, domain::Outcome outcome);
  // By how much the believed capacity falls and rises again.
  units::Blocks belief_step() const;
  // A step succeeded: what failed steps took away comes back little by little.
  void recover();
  // The try is over: frees everything it holds and tells.
  void finish(Index index, domain::Outcome outcome);
  void fail(Index index, domain::Reason reason);

 private:
  units::Nanos whole_prompt(const domain::Request& request) const;
  void add_row(Index index, bool decode);
  void end(Index index);
};

}  // namespace tidegate::batch
