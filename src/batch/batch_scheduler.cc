#include "batch/batch_scheduler.h"

#include <algorithm>

#include "batch/composer.h"
#include "batch/core.h"
#include "cost/kv_law.h"
#include "units/check.h"

namespace tidegate::batch {

using domain::Outcome;
using domain::Reason;
using units::Blocks;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

// A plan that failed this often in a row, changed each time, ends its tries.
constexpr std::int64_t kFailuresTolerated = 3;

}  // namespace

struct BatchScheduler::State {
  State(const BatchConfig& config, const StepPolicyFactory& make)
      : core(config), policy(make ? make(core) : std::make_unique<Composer>(core)) {}

  Core core;
  std::unique_ptr<StepPolicy> policy;
  bool drained = false;  // core.events were handed out

  // Events that were handed out are gone before new ones come.
  void begin() {
    if (drained) core.events.clear();
    drained = false;
  }
  void commit(Index index, const Row& row, bool ended, Instant now);
  bool learn_to_avoid(StepFault fault, Blocks planned, Instant now);
};

BatchScheduler::BatchScheduler(const BatchConfig& config, const StepPolicyFactory& policy)
    : state_(std::make_unique<State>(config, policy)) {}

BatchScheduler::~BatchScheduler() = default;

void BatchScheduler::submit(const domain::Assign& assign, Instant now) {
  static_cast<void>(now);
  state_->begin();
  Core& core = state_->core;
  const domain::EngineSpec& spec = core.config.spec;
  if (core.sequences.find(assign.ref) != SequenceTable::kNone) {
    core.counters.dropped_calls += 1;
    return;
  }
  const domain::Footprint& size = assign.request.footprint;
  Reason refusal = Reason::kNone;
  if (assign.ref.engine != spec.id || assign.ref.epoch != spec.epoch) {
    refusal = Reason::kEngineLost;
  } else if (size.prompt.value() < 1 || size.max_output.value() < 1 ||
             !cost::can_ever_fit(spec, size)) {
    refusal = Reason::kNeverFits;
  } else if (core.sequences.waiting_full()) {
    refusal = Reason::kQueueFull;
  }
  if (refusal != Reason::kNone) {
    core.events.emplace_back(domain::Failed{assign.ref, refusal});
    return;
  }
  core.sequences.add(assign, state_->policy->start_key(assign));
  core.events.emplace_back(domain::Accepted{assign.ref});
}

void BatchScheduler::abort(const domain::AttemptRef& ref, Instant now) {
  static_cast<void>(now);
  state_->begin();
  Core& core = state_->core;
  const Index index = core.sequences.find(ref);
  if (index == SequenceTable::kNone) {
    core.counters.dropped_calls += 1;
    return;
  }
  core.stop(index, Outcome::kCancelled);
}

void BatchScheduler::abort_all(Outcome outcome, Instant now) {
  static_cast<void>(now);
  state_->begin();
  Core& core = state_->core;
  while (!core.sequences.waiting().empty()) {
    core.finish(core.sequences.waiting().back(), outcome);
  }
  const auto& running = core.sequences.running();
  for (std::size_t i = running.size(); i > 0; --i) core.stop(running[i - 1], outcome);
}

const StepPlan& BatchScheduler::compose(Instant now) {
  TIDEGATE_CHECK(!state_->core.outstanding);
  state_->policy->compose(now);
  return state_->core.plan;
}

void BatchScheduler::State::commit(Index index, const Row& row, bool ended, Instant now) {
  Sequence& sequence = core.sequences[index];
  sequence.computed += row.count;
  sequence.take = Tokens(0);
  if (!row.decode) core.counters.prefill_tokens += row.count;
  if (sequence.aborting) {
    core.finish(index, sequence.abort_outcome);
    return;
  }
  core.kv.publish(sequence.slot, sequence.assign.request.prefix, sequence.computed);
  if (!row.samples) return;
  sequence.produced += Tokens(1);
  sequence.last_token_at = now;
  core.events.emplace_back(domain::TokensProduced{row.ref, Tokens(1)});
  if (ended || sequence.produced >= sequence.assign.request.footprint.max_output) {
    core.finish(index, Outcome::kCompleted);
  }
}

std::span<const EngineEvent> BatchScheduler::complete(const StepResult& result, Instant now) {
  state_->begin();
  Core& core = state_->core;
  TIDEGATE_CHECK(core.outstanding && result.number == core.plan.number);
  core.outstanding = false;
  core.law.observe(core.plan.shape, result.duration);
  std::size_t sampled = 0;
  for (std::size_t i = 0; i < core.plan.rows.size(); ++i) {
    const Row& row = core.plan.rows[i];
    bool ended = false;
    if (row.samples) {
      TIDEGATE_CHECK(sampled < result.sampled.size() && result.sampled[sampled].ref == row.ref);
      ended = result.sampled[sampled++].ended;
    }
    state_->commit(core.row_sequences[i], row, ended, now);
  }
  TIDEGATE_CHECK(sampled == result.sampled.size());
  core.counters.steps += 1;
  core.recover();
  return drain_events();
}

// What is different about the next plan: half the prompt tokens, or of several streams one makes
// room, and less memory is believed in. False when there is nothing to change.
bool BatchScheduler::State::learn_to_avoid(StepFault fault, Blocks planned, Instant now) {
  core.failures_in_row += 1;
  core.good_steps = 0;
  const std::int64_t prefill = core.plan.shape.prefill_tokens;
  bool changed = prefill > 1;
  if (prefill > 0) core.prefill_cap = std::max<std::int64_t>(1, prefill / 2);
  if (prefill == 0) changed = policy->shed_one(now);
  if (fault == StepFault::kBroken) return changed;
  // It holds less than the plan wanted; an engine that cannot hold half is broken in other ways.
  const Blocks cached = core.kv.cached();
  const Blocks less = std::min(core.kv.believed() - core.belief_step(), planned - Blocks(1));
  core.kv.believe(std::max(less, core.kv.total() / 2));
  return changed || core.kv.cached() < cached;
}

std::span<const EngineEvent> BatchScheduler::fail_step(std::int64_t number, StepFault fault,
                                                       Instant now) {
  state_->begin();
  Core& core = state_->core;
  TIDEGATE_CHECK(core.outstanding && number == core.plan.number);
  core.outstanding = false;
  core.counters.steps += 1;
  core.counters.failed_steps += 1;
  const Blocks planned = core.kv.referenced() + core.kv.cached();
  for (std::size_t i = 0; i < core.plan.rows.size(); ++i) {
    Sequence& sequence = core.sequences[core.row_sequences[i]];
    sequence.take = Tokens(0);
    core.kv.cut(sequence.slot, sequence.computed);
    if (sequence.aborting) core.finish(core.row_sequences[i], sequence.abort_outcome);
  }
  const bool another_try = core.failures_in_row + 1 < kFailuresTolerated;
  if (another_try && state_->learn_to_avoid(fault, planned, now)) return drain_events();
  for (const Row& row : core.plan.rows) {
    const Index index = core.sequences.find(row.ref);
    if (index != SequenceTable::kNone) core.fail(index, Reason::kEngineError);
  }
  core.failures_in_row = 0;
  return drain_events();
}

std::span<const EngineEvent> BatchScheduler::drain_events() {
  state_->begin();
  state_->drained = true;
  return state_->core.events;
}

bool BatchScheduler::has_work() const {
  return state_->core.sequences.size() > 0;
}

bool BatchScheduler::outstanding() const {
  return state_->core.outstanding;
}

domain::StateReport BatchScheduler::report(Instant now) const {
  const Core& core = state_->core;
  Tokens backlog(0);
  const auto add = [&](Index index) {
    if (!core.sequences[index].decoding()) backlog += core.sequences[index].pending();
  };
  for (const Index index : core.sequences.running()) add(index);
  for (const Index index : core.sequences.waiting()) add(index);
  return {.engine = core.config.spec.id,
          .epoch = core.config.spec.epoch,
          .kv_used = core.kv.referenced(),
          .kv_cached = core.kv.cached(),
          .running = static_cast<std::int64_t>(core.sequences.running().size()),
          .waiting = static_cast<std::int64_t>(core.sequences.waiting().size()),
          .prefill_backlog = backlog,
          .step_end = core.outstanding ? core.step_start + core.plan.predicted : now,
          .law_correction = core.law.correction(),
          .preemptions_total = core.counters.preemptions};
}

const cost::StepLaw& BatchScheduler::law() const {
  return state_->core.law;
}

const KvBlocks& BatchScheduler::kv() const {
  return state_->core.kv;
}

const BatchCounters& BatchScheduler::counters() const {
  return state_->core.counters;
}

const BatchConfig& BatchScheduler::config() const {
  return state_->core.config;
}

std::vector<SequenceView> BatchScheduler::sequences() const {
  const SequenceTable& table = state_->core.sequences;
  std::vector<Index> all = table.waiting();
  all.insert(all.end(), table.running().begin(), table.running().end());
  std::sort(all.begin(), all.end(),
            [&](Index a, Index b) { return table[a].order < table[b].order; });
  std::vector<SequenceView> views;
  views.reserve(all.size());
  for (const Index index : all) {
    const Sequence& sequence = table[index];
    Phase phase = Phase::kWaiting;
    if (sequence.running()) phase = sequence.decoding() ? Phase::kDecoding : Phase::kPrefilling;
    views.push_back({.ref = sequence.assign.ref,
                     .tier = sequence.tier(),
                     .phase = phase,
                     .aborting = sequence.aborting,
                     .slot = sequence.slot,
                     .prompt = sequence.assign.request.footprint.prompt,
                     .max_output = sequence.assign.request.footprint.max_output,
                     .produced = sequence.produced,
                     .computed = sequence.computed,
                     .cached_prompt = sequence.cached_prompt,
                     .preemptions = sequence.preemptions});
  }
  return views;
}

}  // namespace tidegate::batch
