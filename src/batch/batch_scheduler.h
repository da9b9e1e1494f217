// The engine tier: decides what runs together in each step of one engine. It keeps the tries that
// the engine was given, the KV block table and the step-time law, and turns them into StepPlans:
// decodes first by slack, then prompt chunks by tier and deadline, sized so that the step's time
// fits the tightest promise; waiting tries start when their predicted memory peak fits; when
// memory or slots run out, the least valuable work is preempted and recomputed later
// (scheduling, 2 and 6 to 8).
//
// A pure state machine: every function takes `now`, none reads a clock, and equal calls give equal
// plans and events. No allocation after construction, except in the views. One owner at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "batch/batch_config.h"
#include "batch/kv_blocks.h"
#include "batch/step_plan.h"
#include "batch/step_policy.h"
#include "cost/step_law.h"
#include "domain/seam.h"
#include "units/quantity.h"

namespace tidegate::batch {

using EngineEvent =
    std::variant<domain::Accepted, domain::TokensProduced, domain::Finished, domain::Failed>;

// Why an engine could not run a plan.
enum class StepFault : std::uint8_t {
  kNoMemory,  // no place for the rows; nothing was computed
  kBroken,    // the step failed in the middle; rows of it may have been computed
};

enum class Phase : std::uint8_t { kWaiting, kPrefilling, kDecoding };

// One live try, for tests and the oracle.
struct SequenceView {
  domain::AttemptRef ref;
  domain::Tier tier = domain::Tier::kWithinShare;
  Phase phase = Phase::kWaiting;
  bool aborting = false;  // ends with the running step
  Slot slot = -1;         // -1 while waiting
  units::Tokens prompt{0};
  units::Tokens max_output{0};
  units::Tokens produced{0};       // output tokens so far
  units::Tokens computed{0};       // tokens of the sequence that the slot holds
  units::Tokens cached_prompt{0};  // of the prompt, not computed at the first start
  std::int64_t preemptions = 0;
};

struct BatchCounters {
  std::int64_t steps = 0;
  std::int64_t failed_steps = 0;
  std::int64_t preemptions = 0;
  units::Tokens prefill_tokens{0};     // computed, recomputed ones included
  units::Tokens recomputed_tokens{0};  // dropped by preemptions and computed again
  units::Tokens shared_tokens{0};      // taken from the prefix cache
  std::int64_t skipped_decodes = 0;    // turns that decodes gave up for guaranteed prompts
  std::int64_t dropped_calls = 0;      // submits and aborts that named no or a doubled try
};

class BatchScheduler {
 public:
  // Decides with `policy`; without one with the house's own.
  // REQUIRES: positive limits in config.spec and block_tokens > 0.
  explicit BatchScheduler(const BatchConfig& config, const StepPolicyFactory& policy = {});
  ~BatchScheduler();
  BatchScheduler(const BatchScheduler&) = delete;
  BatchScheduler& operator=(const BatchScheduler&) = delete;

  // Takes responsibility for the try: Accepted, or Failed when it can never fit (kNeverFits), is
  // of another engine life (kEngineLost) or the queue is full (kQueueFull). A try that is alive
  // already is dropped and counted.
  void submit(const domain::Assign& assign, units::Instant now);

  // Ends the try with Finished{kCancelled}. What the running step does not use is free at once,
  // the rest at its completion. An unknown try is dropped and counted.
  void abort(const domain::AttemptRef& ref, units::Instant now);

  // Ends every try with Finished{outcome}, as abort() does.
  void abort_all(domain::Outcome outcome, units::Instant now);

  // The next step. The plan must be performed as written, and unless it is idle() it is
  // outstanding until complete() or fail_step(). The reference is valid until the next compose().
  // REQUIRES: no plan is outstanding. About 0.1 us per running sequence; O(n log n).
  const StepPlan& compose(units::Instant now);

  // The outstanding plan was performed. Teaches the law its duration, commits the rows, ends tries
  // that reached their end or were aborted. Returns drain_events().
  // REQUIRES: result.number is the outstanding plan's and result.sampled matches its sampling rows.
  std::span<const EngineEvent> complete(const StepResult& result, units::Instant now);

  // The outstanding plan's trims and copies were performed but its rows could not be computed.
  // Believes in less memory (kNoMemory), preempts one try when several run, plans less prefill, so
  // that the same plan is never tried twice; ends the plan's tries with Failed{kEngineError} when
  // it happens again and again. Returns drain_events().
  std::span<const EngineEvent> fail_step(std::int64_t number, StepFault fault, units::Instant now);

  // What happened since the last drain, in order. Valid until the next call of a non-const
  // function.
  std::span<const EngineEvent> drain_events();

  // Something waits or runs, so that compose() has work.
  bool has_work() const;
  bool outstanding() const;

  domain::StateReport report(units::Instant now) const;
  const cost::StepLaw& law() const;
  const KvBlocks& kv() const;
  const BatchCounters& counters() const;
  const BatchConfig& config() const;
  // Every live try in submission order. Allocates.
  std::vector<SequenceView> sequences() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidegate::batch
