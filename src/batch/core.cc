#include "batch/core.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::batch {

using units::Instant;
using units::Nanos;
using units::Tokens;

Core::Core(const BatchConfig& given)
    : config(given),
      law(given.spec.law, given.spec.calibrated),
      kv({.total = given.spec.limits.kv_blocks,
          .shape = given.spec.kv,
          .running_slots = given.spec.limits.max_sequences,
          .retained_slots = given.retained_slots,
          .max_retained = given.max_retained,
          .max_context = given.spec.limits.max_context}),
      sequences(given.spec.limits.max_sequences, given.max_waiting),
      prefill_cap(given.spec.limits.max_step_tokens.value()) {
  TIDEGATE_CHECK(given.spec.limits.max_step_tokens.value() > 0 && given.max_waiting > 0);
  TIDEGATE_CHECK(given.chunk_tile.value() > 0 && given.min_chunk.value() > 0);
  TIDEGATE_CHECK(given.least_rest <= given.chunk_tile);
  TIDEGATE_CHECK(given.drip_interval > 0 && given.forecast_refresh > 0);
  const auto running = static_cast<std::size_t>(given.spec.limits.max_sequences);
  const auto slots = static_cast<std::size_t>(kv.slots());
  plan.trims.reserve(slots);
  plan.copies.reserve(running);
  plan.rows.reserve(running);
  row_sequences.reserve(running);
  // Two for each running one, and what is submitted or aborted between two drains.
  events.reserve(2 * running + 2 * static_cast<std::size_t>(given.max_waiting));
}

Nanos Core::own_work(const Sequence& sequence, Tokens cached) const {
  cost::StepShape shape;
  const Tokens context = std::max(sequence.computed, cached);
  shape.add_chunk(context, sequence.length() - context);
  return law.guarded(shape);
}

Nanos Core::whole_prompt(const domain::Request& request) const {
  cost::StepShape shape;
  shape.add_chunk(Tokens(0), request.footprint.prompt);
  return law.mean(shape);
}

Instant Core::virtual_due(const domain::Request& request) const {
  return request.arrival + config.best_effort_grace +
         whole_prompt(request) * config.best_effort_stretch;
}

StartKey Core::start_key(const domain::Assign& assign) const {
  const domain::Request& request = assign.request;
  const bool promised = !request.promise.best_effort();
  return {.tier = assign.tier,
          .rank = promised ? StartRank::kPromised : StartRank::kUnpromised,
          .due = promised ? request.promise.token_due(0) : virtual_due(request),
          .minus_own_work = -whole_prompt(request),
          .request = assign.ref.request,
          .attempt = assign.ref.attempt};
}

Status Core::status(const Sequence& sequence, Instant now, Nanos work) const {
  const Instant due = sequence.promise().token_due(sequence.produced.value());
  if (due == Instant::never()) return Status::kBestEffort;
  if (due < now) return Status::kMissed;
  const Nanos slack = due - now;
  // An unmeasured law condemns nobody.
  if (slack < work) return law.calibrated() ? Status::kHopeless : Status::kAtRisk;
  return slack < work * 2 ? Status::kAtRisk : Status::kProtected;
}

cost::Remaining Core::remaining(Sequence& sequence) const {
  const Tokens since = sequence.produced - sequence.forecast_at;
  if (sequence.forecast_at.value() < 0 || since.value() >= config.forecast_refresh) {
    sequence.forecast = cost::remaining(sequence.assign.request.footprint, sequence.produced);
    sequence.forecast_at = sequence.produced;
    return sequence.forecast;
  }
  return {std::max(Tokens(1), sequence.forecast.mean - since), sequence.forecast.variance};
}

void Core::begin_plan() {
  plan.trims.clear();
  plan.copies.clear();
  plan.rows.clear();
  row_sequences.clear();
}

void Core::open(Index index, const KvBlocks::Hit& hit) {
  Sequence& sequence = sequences[index];
  const Slot slot = kv.open(hit);
  const Tokens found(hit.blocks * block_tokens());
  if (hit.blocks > 0) plan.copies.push_back({hit.slot, slot, found});
  sequences.start(index, slot);
  sequence.computed = found;
  counters.shared_tokens += found;
  counters.recomputed_tokens += std::max(Tokens(0), sequence.lost - found);
  sequence.lost = Tokens(0);
  if (!sequence.started) sequence.cached_prompt = found;
  sequence.started = true;
}

void Core::write_plan(std::span<const Index> decodes, const cost::StepShape& shape, Instant now) {
  plan.number += 1;
  for (const Index index : decodes) add_row(index, true);
  for (const Index index : sequences.running()) {
    const Sequence& sequence = sequences[index];
    if (sequence.take.value() > 0 && !sequence.decoding()) add_row(index, false);
  }
  kv.unpin();
  kv.take_trims(plan.trims);
  plan.shape = shape;
  plan.predicted = law.mean(shape);
  outstanding = !plan.idle();
  step_start = now;
}

void Core::add_row(Index index, bool decode) {
  const Sequence& sequence = sequences[index];
  plan.rows.push_back({.ref = sequence.assign.ref,
                       .slot = sequence.slot,
                       .from = sequence.computed,
                       .count = sequence.take,
                       .decode = decode,
                       .samples = sequence.take == sequence.pending()});
  row_sequences.push_back(index);
}

void Core::preempt(Index index) {
  Sequence& sequence = sequences[index];
  TIDEGATE_CHECK(sequence.running() && !sequence.aborting);
  kv.close(sequence.slot);
  sequence.lost = sequence.computed;
  sequence.computed = Tokens(0);
  sequence.take = Tokens(0);
  sequence.preemptions += 1;
  sequence.preempted_step = counters.steps;
  sequence.sharing_waits = 0;
  counters.preemptions += 1;
  StartKey key = sequence.key;
  key.rank = StartRank::kReturning;
  sequences.stop(index, key);
}

void Core::stop(Index index, domain::Outcome outcome) {
  Sequence& sequence = sequences[index];
  if (outstanding && sequence.take.value() > 0) {
    sequence.aborting = true;
    sequence.abort_outcome = outcome;
    return;
  }
  finish(index, outcome);
}

units::Blocks Core::belief_step() const {
  return std::max(units::Blocks(1), units::scaled(kv.total(), config.believed_shrink));
}

void Core::recover() {
  failures_in_row = 0;
  prefill_cap = std::min(prefill_cap * 2, config.spec.limits.max_step_tokens.value());
  if (kv.believed() == kv.total() || ++good_steps < config.believed_recovery) return;
  good_steps = 0;
  kv.believe(kv.believed() + belief_step());
}

void Core::end(Index index) {
  if (sequences[index].running()) kv.close(sequences[index].slot);
  sequences.erase(index);
}

void Core::finish(Index index, domain::Outcome outcome) {
  const Sequence& sequence = sequences[index];
  events.emplace_back(domain::Finished{.ref = sequence.assign.ref,
                                       .outcome = outcome,
                                       .usage = {.prompt = sequence.assign.request.footprint.prompt,
                                                 .cached_prompt = sequence.cached_prompt,
                                                 .output = sequence.produced}});
  end(index);
}

void Core::fail(Index index, domain::Reason reason) {
  events.emplace_back(domain::Failed{sequences[index].assign.ref, reason});
  end(index);
}

}  // namespace tidegate::batch
