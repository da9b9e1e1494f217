#include "pool/placement/engine_view.h"

#include <algorithm>

#include "cost/kv_law.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using domain::Tier;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

// A prediction is renewed after this many produced tokens.
constexpr Tokens kRefreshEvery{32};

}  // namespace

EngineView::EngineView(const domain::EngineSpec& spec, const PoolPolicy& policy)
    : policy_(policy), law_(spec.law, spec.calibrated) {
  set_spec(spec);
}

void EngineView::set_spec(const domain::EngineSpec& spec) {
  spec_ = spec;
  law_ = cost::StepLaw(spec.law, spec.calibrated);
  state_ = EngineState::kReady;
  const units::Blocks usable =
      units::scaled(spec.limits.kv_blocks, units::Ppm(units::kMillion) - policy_.kv_watermark);
  capacity_ = Tokens(units::multiply_saturating(usable.value(), spec.kv.block_tokens.value()));
  const std::int64_t decodes = std::max<std::int64_t>(1, spec.limits.max_sequences / 2);
  const std::int64_t kv_tokens =
      units::multiply_saturating(spec.limits.kv_blocks.value(), spec.kv.block_tokens.value());
  nominal_step_ = law_.mean({.decodes = decodes, .kv_tokens = kv_tokens / 2});
  const std::int64_t most = 2 * (spec.limits.max_sequences + policy_.ahead);
  const auto expected = static_cast<std::size_t>(std::clamp<std::int64_t>(most, 1, 4'096));
  ledger_.reserve(expected);
  free_.reserve(expected);
  prefilling_.reserve(expected);
  sums_.reserve(expected);
  sums_without_best_effort_.reserve(expected);
  residents_.reserve(expected);
  stale_ = true;
}

void EngineView::join(const domain::EngineSpec& spec) {
  if (spec.epoch != spec_.epoch) clear();
  set_spec(spec);
}

std::optional<PledgeIndex> EngineView::find(const domain::AttemptRef& ref) const {
  for (std::size_t i = 0; i < ledger_.size(); ++i) {
    if (ledger_[i].used && ledger_[i].ref == ref) return static_cast<PledgeIndex>(i);
  }
  return std::nullopt;
}

PledgeIndex EngineView::add(const Claim& claim, const domain::Request& request) {
  PledgeIndex index = static_cast<PledgeIndex>(ledger_.size());
  if (free_.empty()) {
    ledger_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  ledger_[index] = {.ref = claim.ref,
                    .slot = claim.slot,
                    .tier = claim.tier,
                    .key = claim.key,
                    .promise = request.promise,
                    .footprint = request.footprint,
                    .prefill_left = request.footprint.prompt,
                    .used = true};
  refresh(ledger_[index]);
  count_in(ledger_[index], index);
  count_ += 1;
  return index;
}

EngineView::Kept EngineView::kept(const Pledge& pledge) {
  return {{pledge.held, pledge.ghost() ? cost::Remaining{} : pledge.remaining},
          pledge.tier == Tier::kBestEffort};
}

// Entries that are equal in all of this are interchangeable.
bool EngineView::kept_before(const Kept& a, const Kept& b) {
  if (cost::longer_first(a.resident, b.resident)) return true;
  return !cost::longer_first(b.resident, a.resident) && a.best_effort < b.best_effort;
}

void EngineView::count_in(const Pledge& pledge, PledgeIndex index) {
  const Kept one = kept(pledge);
  residents_.insert(std::upper_bound(residents_.begin(), residents_.end(), one, kept_before), one);
  sums_.add(pledge);
  if (pledge.tier != Tier::kBestEffort) sums_without_best_effort_.add(pledge);
  if (!pledge.ghost() && pledge.produced == Tokens(0)) prefilling_.insert(pledge, index);
  stale_ = true;
}

void EngineView::count_out(const Pledge& pledge) {
  const Kept one = kept(pledge);
  const auto at = std::lower_bound(residents_.begin(), residents_.end(), one, kept_before);
  TIDEGATE_CHECK(at != residents_.end() && !kept_before(one, *at));
  residents_.erase(at);
  sums_.remove(pledge);
  if (pledge.tier != Tier::kBestEffort) sums_without_best_effort_.remove(pledge);
  if (!pledge.ghost() && pledge.produced == Tokens(0)) prefilling_.erase(pledge);
  stale_ = true;
}

Tokens EngineView::whole_blocks(Tokens tokens) const {
  return Tokens(units::multiply_saturating(cost::blocks_for(spec_.kv, tokens).value(),
                                           spec_.kv.block_tokens.value()));
}

void EngineView::refresh(Pledge& pledge) {
  pledge.context = pledge.footprint.prompt + pledge.produced;
  pledge.held = whole_blocks(pledge.context);
  pledge.remaining = cost::remaining(pledge.footprint, pledge.produced);
  pledge.refresh_at = pledge.produced + kRefreshEvery;
}

bool EngineView::produce(PledgeIndex index, Tokens count, Instant now) {
  Pledge& pledge = ledger_[index];
  const bool first = pledge.produced == Tokens(0);
  const Tokens produced = pledge.produced + count;
  const bool late = now > pledge.promise.token_due(produced.value() - 1);
  if (!first && late == pledge.late && produced < pledge.refresh_at) {
    pledge.produced = produced;
    return false;
  }
  count_out(pledge);
  pledge.produced = produced;
  pledge.late = late;
  if (first) pledge.prefill_left = Tokens(0);
  refresh(pledge);
  count_in(pledge, index);
  return true;
}

void EngineView::disown(PledgeIndex index) {
  Pledge& pledge = ledger_[index];
  count_out(pledge);
  pledge.slot = kNoSlot;
  pledge.prefill_left = Tokens(0);
  count_in(pledge, index);
}

void EngineView::release(PledgeIndex index) {
  TIDEGATE_CHECK(ledger_[index].used);
  count_out(ledger_[index]);
  ledger_[index] = {};
  free_.push_back(index);
  count_ -= 1;
}

void EngineView::clear() {
  ledger_.clear();
  free_.clear();
  prefilling_.clear();
  sums_.clear();
  sums_without_best_effort_.clear();
  residents_.clear();
  count_ = 0;
  foreign_ = Tokens(0);
  step_end_ = Instant();
  stale_ = true;
}

void EngineView::report(const domain::StateReport& report) {
  law_.adopt(std::clamp(report.law_correction, units::Ppm(units::kMillion / 100),
                        units::Ppm(units::kMillion * 100)));
  step_end_ = report.step_end;
  Tokens known{0};
  Tokens held{0};
  for (const PrefillLine::Place& place : prefilling_.places()) {
    if (ledger_[place.pledge].accepted) known += place.work.prefill;
  }
  for (const Pledge& pledge : ledger_) {
    if (pledge.used) held += whole_blocks(pledge.footprint.prompt + pledge.produced);
  }
  const Tokens used(units::multiply_saturating(std::max<std::int64_t>(0, report.kv_used.value()),
                                               spec_.kv.block_tokens.value()));
  foreign_ = std::max(Tokens(0), used - held);
  // What was computed, or found in the cache, since the last report belongs to the first in line.
  Tokens done = std::max(Tokens(0), known - std::max(Tokens(0), report.prefill_backlog));
  for (std::size_t i = 0; i < prefilling_.size() && done > Tokens(0); ++i) {
    Pledge& pledge = ledger_[prefilling_.places()[i].pledge];
    if (!pledge.accepted) continue;
    const Tokens step = std::min(done, pledge.prefill_left);
    pledge.prefill_left -= step;
    done -= step;
    prefilling_.update(i, pledge);
  }
  stale_ = true;
}

Load EngineView::sum(Tier tier) const {
  const bool all = !makes_way(tier);
  Load load = all ? sums_.load() : sums_without_best_effort_.load();
  load.held += foreign_;
  // Best effort is at the end of the line.
  load.prefill = prefilling_.work_of_first(all ? prefilling_.size()
                                               : prefilling_.count_before(Tier::kBestEffort));
  derive(load);
  return load;
}

void EngineView::derive(Load& load) const {
  load.step = law_.guarded(load.decode_shape());
  const Tokens room = std::max(Tokens(1), spec_.limits.max_step_tokens - Tokens(load.decodes));
  load.chunk = room;
  if (load.running_pace != Nanos::max()) {
    // All of it: what steps leave of a pace now, streams spend later.
    const Tokens fits = law_.largest_chunk(load.decode_shape(), Tokens(0), load.running_pace, room);
    load.chunk = std::min(room, std::max(fits, policy_.chunk_floor));
  }
  if (load.sequences == 0) return;
  // Each of n runs for its prefill share and its remaining steps; n ends spread over twice the mean
  // of that come at this distance.
  const Nanos step = law_.mean({.decodes = load.sequences, .kv_tokens = load.held.value()});
  const Nanos total =
      step * load.remaining.value() + prefill_time(load, load.prefill) * load.sequences;
  load.end_distance =
      Nanos(units::multiply_divide(2, total.value(), load.sequences * (load.sequences + 1)));
}

const Load& EngineView::load(Tier tier) const {
  if (stale_) {
    all_ = sum(Tier::kBestEffort);
    without_best_effort_ = spec_.own_batching ? sum(Tier::kWithinShare) : all_;
    stale_ = false;
  }
  return tier == Tier::kBestEffort ? all_ : without_best_effort_;
}

cost::Resident EngineView::resident(const domain::Footprint& footprint) const {
  return {whole_blocks(footprint.prompt), cost::remaining(footprint, Tokens(0))};
}

Tokens EngineView::peak(Tier tier, const cost::Resident* extra, Tokens enough) const {
  const Load& now = load(tier);
  cost::Resident sum{now.held, {now.remaining, now.variance}};
  if (extra != nullptr) {
    sum.occupied += extra->occupied;
    sum.remaining.mean += extra->remaining.mean;
    sum.remaining.variance =
        units::add_saturating(sum.remaining.variance, extra->remaining.variance);
  }
  const Tokens bound = cost::predicted_peak({&sum, 1}, policy_.peak_z_thousandths);
  if (bound <= enough) return bound;

  cost::PeakSweep sweep(policy_.peak_z_thousandths);
  bool added = extra == nullptr;
  for (const Kept& one : residents_) {
    if (one.best_effort && makes_way(tier)) continue;
    if (!added && cost::longer_first(*extra, one.resident)) {
      sweep.add(*extra);
      added = true;
    }
    sweep.add(one.resident);
  }
  if (!added) sweep.add(*extra);
  return foreign_ + sweep.peak();
}

Nanos EngineView::step_left(const Load& load, Instant now) const {
  return step_end_ > now ? step_end_ - now : load.step;
}

Work EngineView::ahead_of(Tier tier, const OrderKey& key) const {
  return prefilling_.work_of_first(prefilling_.count_before(tier, key));
}

Nanos EngineView::prefill_time(const Load& load, const Work& work) const {
  if (work.prefill <= Tokens(0)) return Nanos(0);
  const std::int64_t steps = units::divide_up(work.prefill.value(), load.chunk.value());
  cost::StepShape shape = load.decode_shape();
  shape.prefill_tokens = units::divide_up(work.prefill.value(), steps);
  shape.attention = work.attention / steps;
  return law_.guarded(shape) * steps;
}

// A part takes no more steps, puts no more than a whole chunk into each, and all its attention is
// no more; the law is affine in attention. The margin covers what the law rounds in each step.
Nanos EngineView::prefill_time_bound(const Load& load, const Work& work) const {
  if (work.prefill <= Tokens(0)) return Nanos(0);
  const std::int64_t steps = units::divide_up(work.prefill.value(), load.chunk.value());
  cost::StepShape shape = load.decode_shape();
  shape.prefill_tokens = load.chunk.value();
  shape.attention = units::add_saturating(work.attention / steps, 1);
  return (law_.guarded(shape) + units::microseconds(1)) * steps;
}

// Tokens read by a decode grow from the prompt to the whole sequence.
Nanos EngineView::price(Tokens prefill, Tokens output) const {
  cost::StepShape full{.prefill_tokens = spec_.limits.max_step_tokens.value()};
  const Nanos without = law_.mean(full);
  full.add_chunk(Tokens(0), prefill);
  full.decodes = output.value();
  full.kv_tokens = units::multiply_saturating(output.value(), (prefill + output / 2).value());
  return law_.mean(full) - without;
}

Nanos EngineView::price(const domain::Footprint& footprint) const {
  return price(footprint.prompt, cost::remaining(footprint, Tokens(0)).mean);
}

}  // namespace tidegate::pool
