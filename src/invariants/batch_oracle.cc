#include "invariants/batch_oracle.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "cost/kv_law.h"

namespace tidegate::invariants {

using batch::StepPlan;
using domain::AttemptRef;
using domain::Outcome;
using domain::Reason;
using units::Tokens;

bool BatchOracle::Less::operator()(const AttemptRef& a, const AttemptRef& b) const {
  return std::tie(a.request, a.attempt, a.engine, a.epoch) <
         std::tie(b.request, b.attempt, b.engine, b.epoch);
}

BatchOracle::BatchOracle(const batch::BatchConfig& config)
    : config_(config),
      memory_(config.spec.limits.max_sequences + config.retained_slots,
              config.spec.kv.block_tokens) {}

void BatchOracle::advance(units::Instant now) {
  findings_.expect(now >= now_, Invariant::kS12Time, "time went from {} ns back to {} ns",
                   now_.ns(), now.ns());
  now_ = std::max(now_, now);
}

Violations BatchOracle::submit(const domain::Assign& assign, units::Instant now) {
  advance(now);
  live_.try_emplace(assign.ref, Try{.request = assign.request});
  return findings_.take();
}

Violations BatchOracle::abort(const AttemptRef& ref, units::Instant now) {
  advance(now);
  const auto it = live_.find(ref);
  if (it != live_.end() && !it->second.ending) {
    it->second.ending = Outcome::kCancelled;
    it->second.aborted_before = last_plan_ + 1;
  }
  return findings_.take();
}

Violations BatchOracle::abort_all(Outcome outcome, units::Instant now) {
  advance(now);
  for (auto& [ref, live] : live_) {
    if (live.ending) continue;
    live.ending = outcome;
    live.aborted_before = last_plan_ + 1;
  }
  return findings_.take();
}

Violations BatchOracle::compose(const StepPlan& plan, units::Instant now) {
  advance(now);
  findings_.expect(!any_plan_ || plan.number == last_plan_ + 1, Invariant::kS11Step,
                   "plan {} follows plan {}", plan.number, last_plan_);
  any_plan_ = true;
  last_plan_ = plan.number;
  for (const batch::Trim& trim : plan.trims) memory_.perform(trim, findings_);
  for (const batch::Copy& copy : plan.copies) memory_.perform(copy, findings_);
  check_rows(plan);
  if (!plan.idle()) running_ = plan;
  return findings_.take();
}

// S11: the step is within the engine's limits and each row is the next piece of a live try.
void BatchOracle::check_rows(const StepPlan& plan) {
  std::int64_t tokens = 0;
  std::int64_t decodes = 0;
  std::int64_t prefill = 0;
  std::set<AttemptRef, Less> refs;
  std::set<batch::Slot> slots;
  for (const batch::Row& row : plan.rows) {
    tokens += row.count.value();
    (row.decode ? decodes : prefill) += row.count.value();
    findings_.expect(refs.insert(row.ref).second, Invariant::kS11Step,
                     "plan {} has two rows of request {}", plan.number, row.ref.request.value());
    findings_.expect(slots.insert(row.slot).second, Invariant::kS11Step,
                     "plan {} has two rows in slot {}", plan.number, row.slot);
    check_row(row);
  }
  findings_.expect(tokens <= config_.spec.limits.max_step_tokens.value(), Invariant::kS11Step,
                   "plan {} has {} tokens of at most {}", plan.number, tokens,
                   config_.spec.limits.max_step_tokens.value());
  findings_.expect(static_cast<std::int64_t>(plan.rows.size()) <= config_.spec.limits.max_sequences,
                   Invariant::kS11Step, "plan {} has {} rows of at most {}", plan.number,
                   plan.rows.size(), config_.spec.limits.max_sequences);
  findings_.expect(plan.shape.decodes == decodes && plan.shape.prefill_tokens == prefill,
                   Invariant::kS11Step,
                   "plan {} counts {} decodes and {} prefill tokens, its rows have {} and {}",
                   plan.number, plan.shape.decodes, plan.shape.prefill_tokens, decodes, prefill);
}

void BatchOracle::check_row(const batch::Row& row) {
  const auto id = row.ref.request.value();
  findings_.expect(row.ref.engine == config_.spec.id && row.ref.epoch == config_.spec.epoch,
                   Invariant::kS11Step, "a row of request {} is of engine {} life {}", id,
                   row.ref.engine.value(), row.ref.epoch.value());
  const auto it = live_.find(row.ref);
  findings_.expect(it != live_.end(), Invariant::kS4NoneLost,
                   "a row computes request {}, which is not alive", id);
  if (it == live_.end()) return;
  Try& live = it->second;
  findings_.expect(!live.ending || last_plan_ < live.aborted_before, Invariant::kS7Cancel,
                   "plan {} computes request {}, which was aborted before", last_plan_, id);
  const std::int64_t whole = live.request.footprint.prompt.value() + live.produced;
  const std::int64_t end = row.from.value() + row.count.value();
  findings_.expect(row.count.value() > 0 && row.from.value() >= 0 && end <= whole,
                   Invariant::kS6Tokens, "request {} computes tokens {} to {} of {}", id,
                   row.from.value(), end, whole);
  findings_.expect(row.samples == (end == whole), Invariant::kS6Tokens,
                   "request {} computes up to token {} of {} and {}", id, end, whole,
                   row.samples ? "samples" : "does not sample");
  findings_.expect(!row.decode || (row.count.value() == 1 && row.samples && live.produced > 0),
                   Invariant::kS11Step, "the decode of request {} has {} tokens after {} produced",
                   id, row.count.value(), live.produced);
  memory_.perform(row, live.request, findings_);
}

Violations BatchOracle::complete(const batch::StepResult& result, units::Instant now) {
  advance(now);
  for (const batch::RowResult& row : result.sampled) {
    const auto it = live_.find(row.ref);
    if (it == live_.end()) continue;
    it->second.sampled = true;
    it->second.stopped = it->second.stopped || row.ended;
  }
  running_.reset();
  return findings_.take();
}

Violations BatchOracle::fail_step(batch::StepFault fault, units::Instant now) {
  advance(now);
  if (running_ && fault == batch::StepFault::kNoMemory) {
    for (const batch::Row& row : running_->rows) memory_.undo(row);
  }
  running_.reset();
  return findings_.take();
}

Violations BatchOracle::events(std::span<const batch::EngineEvent> events) {
  for (const batch::EngineEvent& event : events) {
    std::visit([this](const auto& e) { hear(e); }, event);
  }
  for (auto& [ref, live] : live_) {
    if (running_) break;  // the tokens come with the completion
    const bool excused = live.ending.has_value() || live.stopped;
    findings_.expect(!live.sampled || excused, Invariant::kS6Tokens,
                     "request {} was sampled, but no token of it was told", ref.request.value());
    live.sampled = false;
  }
  return findings_.take();
}

BatchOracle::Try* BatchOracle::find(const AttemptRef& ref, const char* what) {
  const auto it = live_.find(ref);
  findings_.expect(it != live_.end(), Invariant::kS3OneEnd,
                   "{} for request {} try {}, which is not alive", what, ref.request.value(),
                   ref.attempt.value());
  return it == live_.end() ? nullptr : &it->second;
}

void BatchOracle::hear(const domain::Accepted& event) {
  Try* live = find(event.ref, "accepted");
  if (live == nullptr) return;
  const auto id = event.ref.request.value();
  findings_.expect(!std::exchange(live->accepted, true), Invariant::kS5OneTry,
                   "request {} was accepted twice", id);
  findings_.expect(cost::can_ever_fit(config_.spec, live->request.footprint),
                   Invariant::kS9NeverFits, "request {} was accepted but can never fit", id);
}

void BatchOracle::hear(const domain::TokensProduced& event) {
  Try* live = find(event.ref, "tokens");
  if (live == nullptr) return;
  const auto id = event.ref.request.value();
  findings_.expect(live->accepted, Invariant::kS5OneTry, "request {} has tokens before accepted",
                   id);
  findings_.expect(std::exchange(live->sampled, false) && event.count == Tokens(1),
                   Invariant::kS6Tokens, "request {} was told {} tokens beyond what was sampled",
                   id, event.count.value());
  live->produced += event.count.value();
  findings_.expect(live->produced <= live->request.footprint.max_output.value(),
                   Invariant::kS6Tokens, "request {} has {} tokens of at most {}", id,
                   live->produced, live->request.footprint.max_output.value());
}

void BatchOracle::hear(const domain::Finished& event) {
  Try* live = find(event.ref, "finished");
  if (live == nullptr) return;
  const auto id = event.ref.request.value();
  check_completed(event.ref, *live, event.outcome);
  const domain::Usage& usage = event.usage;
  findings_.expect(usage.output == Tokens(live->produced), Invariant::kS6Tokens,
                   "request {} is charged {} tokens and was told {}", id, usage.output.value(),
                   live->produced);
  findings_.expect(usage.prompt == live->request.footprint.prompt &&
                       usage.cached_prompt.value() >= 0 && usage.cached_prompt <= usage.prompt,
                   Invariant::kS6Tokens, "request {} reports {} of {} prompt tokens cached, not {}",
                   id, usage.cached_prompt.value(), usage.prompt.value(),
                   live->request.footprint.prompt.value());
  live_.erase(event.ref);
}

void BatchOracle::check_completed(const AttemptRef& ref, const Try& live, Outcome outcome) {
  const auto id = ref.request.value();
  if (outcome == Outcome::kCompleted) {
    const bool whole = live.produced == live.request.footprint.max_output.value();
    findings_.expect(live.accepted && (live.stopped || whole), Invariant::kS6Tokens,
                     "request {} is completed with {} tokens of {} and without a stop", id,
                     live.produced, live.request.footprint.max_output.value());
  } else {
    findings_.expect(live.ending == outcome, Invariant::kS3OneEnd,
                     "request {} ended {} and nobody asked for it", id, domain::name(outcome));
  }
}

void BatchOracle::hear(const domain::Failed& event) {
  Try* live = find(event.ref, "failed");
  if (live == nullptr) return;
  const bool fits = cost::can_ever_fit(config_.spec, live->request.footprint);
  const bool ours = event.ref.engine == config_.spec.id && event.ref.epoch == config_.spec.epoch;
  const auto waiting = static_cast<std::int64_t>(live_.size()) - 1;
  const bool founded = event.reason == Reason::kNeverFits    ? !fits
                       : event.reason == Reason::kEngineLost ? !ours
                       : event.reason == Reason::kQueueFull  ? waiting >= config_.max_waiting
                                                             : live->accepted;
  findings_.expect(founded, Invariant::kS9NeverFits, "request {} failed as {} without ground",
                   event.ref.request.value(), domain::name(event.reason));
  live_.erase(event.ref);
}

Violations BatchOracle::state(const BatchView& view) {
  check_blocks(view);
  check_sequences(view);
  check_endings(view);
  return findings_.take();
}

// S1, S2: recounted from the slots' own lists.
void BatchOracle::check_blocks(const BatchView& view) {
  std::vector<std::int64_t> holders(view.holders.size(), 0);
  std::vector<bool> referenced(view.holders.size(), false);
  for (std::size_t slot = 0; slot < view.slots.size(); ++slot) {
    check_slot(view, slot, holders);
    if (view.slots[slot].use != batch::SlotUse::kRunning) continue;
    for (const std::uint32_t block : view.slots[slot].blocks) {
      if (block < referenced.size()) referenced[block] = true;
    }
  }
  for (std::size_t block = 0; block < holders.size(); ++block) {
    findings_.expect(holders[block] == view.holders[block], Invariant::kS2Blocks,
                     "block {} has {} holders and counts {}", block, holders[block],
                     view.holders[block]);
  }
  const auto used = std::ranges::count(referenced, true);
  const auto held = std::ranges::count_if(holders, [](std::int64_t n) { return n > 0; });
  const auto total = config_.spec.limits.kv_blocks.value();
  findings_.expect(view.total.value() == total && view.referenced.value() == used &&
                       view.cached.value() == held - used && view.free.value() == total - held,
                   Invariant::kS2Blocks,
                   "{} blocks: {} free, {} referenced, {} cached; the lists say {}, {}, {}",
                   view.total.value(), view.free.value(), view.referenced.value(),
                   view.cached.value(), total - held, used, held - used);
  findings_.expect(used <= total, Invariant::kS1Memory, "{} of {} blocks are referenced", used,
                   total);
}

void BatchOracle::check_slot(const BatchView& view, std::size_t slot,
                             std::vector<std::int64_t>& holders) {
  const SlotView& held = view.slots[slot];
  findings_.expect(held.use != batch::SlotUse::kFree || held.blocks.empty(), Invariant::kS7Cancel,
                   "free slot {} holds {} blocks", slot, held.blocks.size());
  std::set<std::uint32_t> own;
  for (const std::uint32_t block : held.blocks) {
    const bool sound = block < holders.size() && own.insert(block).second;
    findings_.expect(sound, Invariant::kS2Blocks, "slot {} holds block {} twice or from nowhere",
                     slot, block);
    if (sound) holders[block] += 1;
  }
}

// S4, S6, S7: the live tries are the shadow's, and the running slots are theirs.
void BatchOracle::check_sequences(const BatchView& view) {
  std::set<AttemptRef, Less> seen;
  std::set<batch::Slot> slots;
  for (const batch::SequenceView& sequence : view.sequences) {
    const auto id = sequence.ref.request.value();
    findings_.expect(seen.insert(sequence.ref).second, Invariant::kS5OneTry,
                     "request {} is listed twice", id);
    findings_.expect(live_.contains(sequence.ref), Invariant::kS3OneEnd,
                     "request {} is still held after its end", id);
    check_sequence(view, sequence);
    if (sequence.slot < 0) continue;
    findings_.expect(slots.insert(sequence.slot).second, Invariant::kS2Blocks,
                     "slot {} has two sequences", sequence.slot);
  }
  for (const auto& [ref, live] : live_) {
    findings_.expect(seen.contains(ref), Invariant::kS4NoneLost, "request {} was lost",
                     ref.request.value());
  }
  const auto running = std::ranges::count(view.slots, batch::SlotUse::kRunning, &SlotView::use);
  findings_.expect(running == static_cast<std::int64_t>(slots.size()), Invariant::kS7Cancel,
                   "{} slots run for {} sequences", running, slots.size());
  findings_.expect(running <= config_.spec.limits.max_sequences, Invariant::kS11Step,
                   "{} sequences run of at most {}", running, config_.spec.limits.max_sequences);
}

void BatchOracle::check_sequence(const BatchView& view, const batch::SequenceView& sequence) {
  const auto it = live_.find(sequence.ref);
  if (it == live_.end()) return;
  const auto id = sequence.ref.request.value();
  findings_.expect(sequence.produced.value() == it->second.produced, Invariant::kS6Tokens,
                   "request {} counts {} tokens and was told {}", id, sequence.produced.value(),
                   it->second.produced);
  if (sequence.slot < 0) {
    findings_.expect(sequence.computed == Tokens(0), Invariant::kS6Tokens,
                     "request {} waits with {} tokens computed", id, sequence.computed.value());
    return;
  }
  const auto slot = static_cast<std::size_t>(sequence.slot);
  const bool runs = slot < view.slots.size() && view.slots[slot].use == batch::SlotUse::kRunning;
  findings_.expect(runs, Invariant::kS2Blocks, "request {} computes in slot {}, which is not its",
                   id, sequence.slot);
  if (!runs) return;
  const auto needed = cost::blocks_for(config_.spec.kv, sequence.computed).value();
  findings_.expect(static_cast<std::int64_t>(view.slots[slot].blocks.size()) >= needed,
                   Invariant::kS1Memory, "request {} needs {} blocks for {} tokens and holds {}",
                   id, needed, sequence.computed.value(), view.slots[slot].blocks.size());
}

// S7: an aborted try is gone at once, or with the running step when that computes it.
void BatchOracle::check_endings(const BatchView& view) {
  findings_.expect(view.outstanding == running_.has_value(), Invariant::kS11Step,
                   "a plan is {}outstanding and should {}be", view.outstanding ? "" : "not ",
                   running_ ? "" : "not ");
  for (const auto& [ref, live] : live_) {
    const bool in_step = running_ && std::ranges::count(running_->rows, ref, &batch::Row::ref) > 0;
    findings_.expect(!live.ending || in_step, Invariant::kS7Cancel,
                     "request {} was aborted and is still held", ref.request.value());
    findings_.expect(live.accepted, Invariant::kS4NoneLost,
                     "request {} was submitted and got no answer", ref.request.value());
  }
}

}  // namespace tidegate::invariants
