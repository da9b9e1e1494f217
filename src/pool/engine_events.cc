// What engines say: joining and leaving, progress, ends and failures of tries.
#include <algorithm>

#include "cost/kv_law.h"
#include "pool/pool_scheduler.h"
#include "units/check.h"

namespace tidegate::pool {

using domain::Outcome;
using domain::Reason;
using units::Nanos;
using units::Tokens;

std::optional<EngineIndex> PoolScheduler::engine_of(units::EngineId id, units::Epoch epoch) const {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (engines_[i].spec().id != id) continue;
    if (engines_[i].spec().epoch != epoch) return std::nullopt;
    return static_cast<EngineIndex>(i);
  }
  return std::nullopt;
}

// The slot of the try that `ref` names, if it is the live one; else the event is late and counted.
SlotIndex PoolScheduler::live(const domain::AttemptRef& ref) {
  const SlotIndex slot = table_.find(ref.request);
  if (slot != kNoSlot && table_[slot].phase == Phase::kOnEngine && table_[slot].ref == ref) {
    return slot;
  }
  counters_.dropped_events += 1;
  return kNoSlot;
}

void PoolScheduler::on(const domain::EngineJoined& event) {
  const auto model = model_index(event.spec.model);
  const auto known = std::find_if(engines_.begin(), engines_.end(), [&](const EngineView& engine) {
    return engine.spec().id == event.spec.id;
  });
  const bool stale = known != engines_.end() && event.spec.epoch < known->spec().epoch;
  const bool moved = known != engines_.end() && event.spec.model != known->spec().model;
  const bool full = known == engines_.end() &&
                    static_cast<std::int64_t>(engines_.size()) >= config_.limits.max_engines;
  if (!model || stale || moved || full || event.spec.kv.block_tokens <= Tokens(0)) {
    counters_.dropped_events += 1;
    return;
  }
  auto index = static_cast<EngineIndex>(known - engines_.begin());
  if (known == engines_.end()) {
    engines_.emplace_back(event.spec, config_.policy);
    models_[*model].engines.push_back(index);
  } else {
    if (event.spec.epoch != known->spec().epoch) lose_all(index);
    engines_[index].join(event.spec);
  }
  state_changed(index);
  release(index);
}

void PoolScheduler::on(const domain::EngineDraining& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index || !engines_[*index].ready()) {
    counters_.dropped_events += 1;
    return;
  }
  engines_[*index].set_state(EngineState::kDraining);
  state_changed(*index);
}

void PoolScheduler::on(const domain::EngineLost& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index || engines_[*index].state() == EngineState::kLost) {
    counters_.dropped_events += 1;
    return;
  }
  lose_all(*index);
  state_changed(*index);
}

// Every try on the engine is lost at once; the ledger is emptied for its next life.
void PoolScheduler::lose_all(EngineIndex index) {
  EngineView& engine = engines_[index];
  engine.set_state(EngineState::kLost);
  for (std::size_t i = 0; i < engine.ledger().size(); ++i) {
    const Pledge& pledge = engine.ledger()[i];
    if (!pledge.used || pledge.ghost()) continue;
    try_failed(pledge.slot, Reason::kEngineLost);
  }
  engine.clear();
}

// An engine came or went: the patience of those whom it could hold changed, since for some it was
// the only one. Those of blocked tenants too, so this asks the table and not the release order.
// O(table + waiting log waiting).
void PoolScheduler::state_changed(EngineIndex index) {
  const EngineView& engine = engines_[index];
  const std::size_t model = *model_index(engine.spec().model);
  const auto& engines = models_[model].engines;
  models_[model].ready = std::count_if(engines.begin(), engines.end(),
                                       [&](EngineIndex other) { return engines_[other].ready(); });
  if (room_.waiting(model) == 0) return;
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    const auto slot = static_cast<SlotIndex>(i);
    Entry& entry = table_[slot];
    const bool waits = entry.phase == Phase::kWaiting && entry.model == model;
    if (!waits || !cost::can_ever_fit(engine.spec(), entry.request.footprint)) continue;
    entry.waits_since = now_;
    timers_.set(slot, gives_up_after(slot));
  }
}

// The try is over without a result. Before the first token the request gets one more, elsewhere if
// there is an elsewhere, when its due time can still be met; the pledge is already given up or is
// about to be.
void PoolScheduler::try_failed(SlotIndex slot, Reason reason) {
  Entry& entry = table_[slot];
  const domain::Usage usage = usage_so_far(entry);
  const EngineIndex failed = entry.engine;
  const bool again = usage.output == Tokens(0) && !entry.avoid;
  engines_[failed].release(entry.pledge);
  stop_running(slot);
  if (!again) return finish(slot, {.outcome = Outcome::kEngineFailed, .reason = reason}, usage);
  room_.charge(entry.lane, -entry.charged);
  entry.charged = Nanos(0);
  entry.avoid = failed;
  entry.waits_since = now_;
  timers_.drop(slot);
  join_lane(slot);
  counters_.retries += 1;
  if (try_newcomer(slot)) return;
  const units::Instant gives_up = gives_up_after(slot);
  if (now_ >= gives_up) {
    return finish(slot, {.outcome = Outcome::kEngineFailed, .reason = reason}, {});
  }
  keep_waiting(slot, expectation(slot), gives_up);
}

void PoolScheduler::on(const domain::Accepted& event) {
  const SlotIndex slot = live(event.ref);
  if (slot == kNoSlot) return;
  engines_[table_[slot].engine].accept(table_[slot].pledge);
}

void PoolScheduler::on(const domain::TokensProduced& event) {
  const SlotIndex slot = live(event.ref);
  if (slot == kNoSlot) return;
  const Entry& entry = table_[slot];
  EngineView& engine = engines_[entry.engine];
  const Tokens room = entry.request.footprint.max_output - engine.pledge(entry.pledge).produced;
  if (event.count <= Tokens(0) || event.count > room) {
    counters_.protocol_errors += 1;
    const domain::Usage usage = usage_so_far(entry);
    abort(slot);
    return finish(slot, {.outcome = Outcome::kEngineFailed, .reason = Reason::kEngineError}, usage);
  }
  const EngineIndex index = entry.engine;
  if (engine.produce(entry.pledge, event.count, now_)) release(index);
}

// A try that had ended for its caller: now nothing of it is left on the engine either.
bool PoolScheduler::release_ghost(const domain::AttemptRef& ref) {
  const auto index = engine_of(ref.engine, ref.epoch);
  if (!index) return false;
  const auto pledge = engines_[*index].find(ref);
  if (!pledge || !engines_[*index].pledge(*pledge).ghost()) return false;
  engines_[*index].release(*pledge);
  release(*index);
  return true;
}

void PoolScheduler::on(const domain::Finished& event) {
  if (release_ghost(event.ref)) return;
  const SlotIndex slot = live(event.ref);
  if (slot == kNoSlot) return;
  const Entry& entry = table_[slot];
  const domain::Footprint& footprint = entry.request.footprint;
  const EngineIndex index = entry.engine;
  domain::Usage usage{.prompt = footprint.prompt};
  usage.output = std::clamp(event.usage.output, Tokens(0), footprint.max_output);
  usage.cached_prompt = std::clamp(event.usage.cached_prompt, Tokens(0), footprint.prompt);
  engines_[index].release(entry.pledge);
  stop_running(slot);
  finish(slot, {.outcome = event.outcome}, usage);
  release(index);
}

void PoolScheduler::on(const domain::Failed& event) {
  if (release_ghost(event.ref)) return;
  const SlotIndex slot = live(event.ref);
  if (slot == kNoSlot) return;
  const EngineIndex index = table_[slot].engine;
  try_failed(slot, event.reason);
  release(index);
}

void PoolScheduler::on(const domain::StateReport& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index) {
    counters_.dropped_events += 1;
    return;
  }
  engines_[*index].report(event);
  release(*index);
}

}  // namespace tidegate::pool
