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

bool served_before(const Pledge& a, const Pledge& b) {
  return a.tier != b.tier ? a.tier < b.tier : a.key < b.key;
}

}  // namespace

Work prefill_work(Tokens prompt, Tokens left) {
  cost::StepShape shape;
  shape.add_chunk(prompt - left, left);
  return {.requests = 1, .prefill = left, .attention = shape.attention};
}

cost::StepShape Load::decode_shape() const {
  return {.decodes = decodes, .kv_tokens = decode_context.value()};
}

EngineView::EngineView(const domain::EngineSpec& spec, const PoolPolicy& policy)
    : policy_(policy), law_(spec.law, spec.calibrated) {
  set_spec(spec);
}

void EngineView::set_spec(const domain::EngineSpec& spec) {
  spec_ = spec;
  law_ = cost::StepLaw(spec.law, spec.calibrated);
  state_ = EngineState::kReady;
  nominal_decodes_ = std::max<std::int64_t>(1, spec.limits.max_sequences / 2);
  const std::int64_t kv_tokens =
      units::multiply_saturating(spec.limits.kv_blocks.value(), spec.kv.block_tokens.value());
  nominal_step_ = law_.mean({.decodes = nominal_decodes_, .kv_tokens = kv_tokens / 2});
  const auto expected =
      static_cast<std::size_t>(std::clamp<std::int64_t>(2 * spec.limits.max_sequences, 1, 4'096));
  ledger_.reserve(expected);
  free_.reserve(expected);
  prefilling_.reserve(expected);
  scratch_.reserve(expected + 1);
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
  start_prefill(index);
  count_ += 1;
  stale_ = true;
  return index;
}

void EngineView::start_prefill(PledgeIndex index) {
  const auto place = std::upper_bound(
      prefilling_.begin(), prefilling_.end(), index,
      [&](PledgeIndex a, PledgeIndex b) { return served_before(ledger_[a], ledger_[b]); });
  prefilling_.insert(place, index);
}

void EngineView::stop_prefill(PledgeIndex index) {
  ledger_[index].prefill_left = Tokens(0);
  std::erase(prefilling_, index);
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
  pledge.produced += count;
  const bool late = now > pledge.promise.token_due(pledge.produced.value() - 1);
  const bool changed = first || late != pledge.late || pledge.produced >= pledge.refresh_at;
  pledge.late = late;
  if (!changed) return false;
  if (first) stop_prefill(index);
  refresh(pledge);
  stale_ = true;
  return true;
}

void EngineView::disown(PledgeIndex index) {
  ledger_[index].slot = kNoSlot;
  stop_prefill(index);
  stale_ = true;
}

void EngineView::release(PledgeIndex index) {
  TIDEGATE_CHECK(ledger_[index].used);
  stop_prefill(index);
  ledger_[index] = {};
  free_.push_back(index);
  count_ -= 1;
  stale_ = true;
}

void EngineView::clear() {
  ledger_.clear();
  free_.clear();
  prefilling_.clear();
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
  for (const PledgeIndex index : prefilling_) {
    if (ledger_[index].accepted) known += ledger_[index].prefill_left;
  }
  for (const Pledge& pledge : ledger_) {
    if (pledge.used) held += whole_blocks(pledge.footprint.prompt + pledge.produced);
  }
  const Tokens used(units::multiply_saturating(std::max<std::int64_t>(0, report.kv_used.value()),
                                               spec_.kv.block_tokens.value()));
  foreign_ = std::max(Tokens(0), used - held);
  // What was computed, or found in the cache, since the last report belongs to the first in line.
  Tokens done = std::max(Tokens(0), known - std::max(Tokens(0), report.prefill_backlog));
  for (const PledgeIndex index : prefilling_) {
    Pledge& pledge = ledger_[index];
    if (!pledge.accepted) continue;
    const Tokens step = std::min(done, pledge.prefill_left);
    pledge.prefill_left -= step;
    done -= step;
  }
  stale_ = true;
}

Load EngineView::sum(Tier tier) const {
  Load load;
  load.held = foreign_;
  for (const Pledge& pledge : ledger_) {
    if (!gates(pledge, tier)) continue;
    load.sequences += 1;
    load.held += pledge.held;
    if (pledge.ghost()) continue;
    load.remaining += pledge.remaining.mean;
    load.variance = units::add_saturating(load.variance, pledge.remaining.variance);
    const bool paced = pledge.promise.token_pace > Nanos(0) && !pledge.late;
    if (paced) load.promised_pace = std::min(load.promised_pace, pledge.promise.token_pace);
    if (pledge.produced == Tokens(0)) {
      load.prefill += prefill_work(pledge.footprint.prompt, pledge.prefill_left);
      continue;
    }
    if (paced) load.running_pace = std::min(load.running_pace, pledge.promise.token_pace);
    load.decodes += 1;
    load.decode_context += pledge.context;
  }
  derive(load);
  return load;
}

void EngineView::derive(Load& load) const {
  load.step = law_.guarded(load.decode_shape());
  const Tokens room = std::max(Tokens(1), spec_.limits.max_step_tokens - Tokens(load.decodes));
  load.chunk = room;
  if (load.running_pace != Nanos::max()) {
    const Nanos budget = units::scaled(load.running_pace, policy_.pace_share);
    const Tokens fits = law_.largest_chunk(load.decode_shape(), Tokens(0), budget, room);
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

Tokens EngineView::capacity() const {
  const units::Blocks usable =
      units::scaled(spec_.limits.kv_blocks, units::Ppm(units::kMillion) - policy_.kv_watermark);
  return Tokens(units::multiply_saturating(usable.value(), spec_.kv.block_tokens.value()));
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

  scratch_.clear();
  for (const Pledge& pledge : ledger_) {
    if (!gates(pledge, tier)) continue;
    scratch_.push_back({pledge.held, pledge.ghost() ? cost::Remaining{} : pledge.remaining});
  }
  if (extra != nullptr) scratch_.push_back(*extra);
  return foreign_ + cost::predicted_peak(scratch_, policy_.peak_z_thousandths);
}

Nanos EngineView::step_left(const Load& load, Instant now) const {
  return step_end_ > now ? step_end_ - now : load.step;
}

Work EngineView::ahead_of(Tier tier, const OrderKey& key) const {
  const auto first_to = [&](const Pledge& pledge) {
    return pledge.tier != tier ? pledge.tier < tier : pledge.key < key;
  };
  // Usually a newcomer is due last.
  if (prefilling_.empty() || first_to(ledger_[prefilling_.back()]))
    return load(Tier::kBestEffort).prefill;
  Work work;
  for (const PledgeIndex index : prefilling_) {
    const Pledge& pledge = ledger_[index];
    if (!first_to(pledge)) break;
    work += prefill_work(pledge.footprint.prompt, pledge.prefill_left);
  }
  return work;
}

Nanos EngineView::prefill_time(const Load& load, const Work& work) const {
  if (work.prefill <= Tokens(0)) return Nanos(0);
  const std::int64_t steps = units::divide_up(work.prefill.value(), load.chunk.value());
  cost::StepShape shape = load.decode_shape();
  shape.prefill_tokens = units::divide_up(work.prefill.value(), steps);
  shape.attention = work.attention / steps;
  return law_.guarded(shape) * steps;
}

Nanos EngineView::price(Tokens prefill, Tokens output) const {
  cost::StepShape shape;
  shape.add_chunk(Tokens(0), prefill);
  return law_.mean(shape) + nominal_step_ * output.value() / nominal_decodes_;
}

}  // namespace tidegate::pool
