// Endings: waiting that became hopeless, deadlines, and the one release path of every request.
#include <algorithm>

#include "pool/pool_scheduler.h"
#include "units/check.h"

namespace tidegate::pool {

using domain::Outcome;
using domain::Reason;
using units::Instant;
using units::Nanos;
using units::Tokens;

void PoolScheduler::fire_timers() {
  while (timers_.earliest() != kNoSlot && timers_.earliest_at() <= now_) {
    const SlotIndex slot = timers_.earliest();
    timers_.drop(slot);
    expire(slot);
  }
}

void PoolScheduler::expire(SlotIndex slot) {
  TIDEGATE_CHECK(table_[slot].phase != Phase::kFree);
  if (table_[slot].phase == Phase::kWaiting) return expire_waiting(slot);
  expire_running(slot);
}

bool PoolScheduler::can_run(SlotIndex slot, std::span<const EngineIndex> engines) const {
  return std::any_of(engines.begin(), engines.end(), [&](EngineIndex index) {
    return could_use(table_[slot].request, engines_[index]);
  });
}

bool PoolScheduler::can_run(SlotIndex slot) const {
  return can_run(slot, models_[table_[slot].model].engines);
}

// The first instant at which waiting is no longer worth while; never() when it always is.
Instant PoolScheduler::gives_up_after(SlotIndex slot) const {
  const Entry& entry = table_[slot];
  const Ask ask = ask_for(slot);
  bool can_run = false;
  Instant latest(0);
  for (const EngineIndex index : models_[entry.model].engines) {
    const EngineView& engine = engines_[index];
    if (!could_use(entry.request, engine)) continue;
    can_run = true;
    latest = std::max(latest, hopeless_after(ask, engine));
    if (latest == Instant::never()) return latest;
  }
  if (can_run) return latest + Nanos(1);
  return std::min(entry.key.due, entry.waits_since + config_.policy.no_engine_grace);
}

void PoolScheduler::expire_waiting(SlotIndex slot) {
  const Instant at = gives_up_after(slot);
  if (at > now_) return timers_.set(slot, at);
  if (!can_run(slot) || !downgrade(slot)) return give_up(slot);
  if (table_[slot].phase != Phase::kWaiting) return;
  keep_waiting(slot, expectation(slot), gives_up_after(slot));
}

void PoolScheduler::give_up(SlotIndex slot) {
  const Entry& entry = table_[slot];
  Refusal end{.reason = Reason::kNoEngine,
              .full = domain::Resource::kSequences,
              .drains_in = config_.policy.no_engine_retry};
  if (can_run(slot)) end = too_late(slot, expectation(slot));
  if (now_ > std::min(entry.request.promise.first_token_due, entry.request.promise.total_due)) {
    end.outcome = Outcome::kDeadlineExceeded;
    end.reason = Reason::kDeadlinePassed;
  }
  // It was admitted once: what failed it is its engine.
  if (entry.admitted) end = {.outcome = Outcome::kEngineFailed, .reason = Reason::kEngineLost};
  finish(slot, end, {});
}

void PoolScheduler::expire_running(SlotIndex slot) {
  const Entry& entry = table_[slot];
  const Instant due = entry.request.promise.total_due;
  const Instant cut = due + config_.policy.deadline_grace;
  const bool begun = engines_[entry.engine].pledge(entry.pledge).produced > Tokens(0);
  if (begun && now_ < cut) return timers_.set(slot, cut);
  const domain::Usage usage = usage_so_far(entry);
  abort(slot);
  finish(slot, {.outcome = Outcome::kDeadlineExceeded, .reason = Reason::kDeadlinePassed}, usage);
}

// One that was passed too often holds up those behind it on every engine that could hold it; when
// it leaves, they are looked at again.
void PoolScheduler::leave_room(SlotIndex slot) {
  Entry& entry = table_[slot];
  room_.leave(slot, entry.lane);
  if (entry.bypassed >= config_.policy.max_bypass) models_[entry.model].held_up = true;
  entry.bypassed = 0;
}

// Tells the engine to stop. What the try holds there stays in the ledger, without an owner, until
// the engine confirms. The slot must be finished right after.
void PoolScheduler::abort(SlotIndex slot) {
  const Entry& entry = table_[slot];
  decisions_.emplace_back(domain::Abort{entry.ref});
  engines_[entry.engine].disown(entry.pledge);
  stop_running(slot);
}

// The request is on no engine any more, as far as its tenant is concerned.
void PoolScheduler::stop_running(SlotIndex slot) {
  Entry& entry = table_[slot];
  TIDEGATE_CHECK(entry.phase == Phase::kOnEngine);
  entry.phase = Phase::kStopped;
  accounts_[entry.tenant].stopped();
  unblock(entry.tenant);
}

domain::Usage PoolScheduler::usage_so_far(const Entry& entry) const {
  if (entry.phase != Phase::kOnEngine) return {};
  const Tokens produced = engines_[entry.engine].pledge(entry.pledge).produced;
  return {.prompt = entry.request.footprint.prompt, .output = produced};
}

void PoolScheduler::settle(Entry& entry, const domain::Usage& usage, bool refused) {
  const Tokens used = refused ? Tokens(0) : usage.prompt + usage.output;
  accounts_[entry.tenant].settle(entry.reservation, refused ? 0 : 1, used, now_);
  if (entry.charged == Nanos(0)) return;
  const EngineView& engine = engines_[entry.engine];
  const Nanos price = engine.price(usage.prompt - usage.cached_prompt, usage.output);
  room_.charge(entry.lane, price - entry.charged);
}

// The one release path: whatever the cause, everything the request holds is given back here.
// REQUIRES: it is on no engine (stop_running() came before, if it was).
void PoolScheduler::finish(SlotIndex slot, const Refusal& end, const domain::Usage& usage) {
  Entry& entry = table_[slot];
  TIDEGATE_CHECK(entry.phase == Phase::kWaiting || entry.phase == Phase::kStopped);
  if (entry.phase == Phase::kWaiting) leave_room(slot);
  timers_.drop(slot);
  const bool refused = end.outcome == Outcome::kRejectedCapacity ||
                       end.outcome == Outcome::kRejectedQuota ||
                       end.outcome == Outcome::kRejectedInvalid;
  settle(entry, usage, refused);
  counters_.ended += 1;
  decisions_.emplace_back(
      domain::End{entry.request.id, end.outcome, end.reason, end.full, jittered(end.drains_in)});
  table_.free(slot);
}

}  // namespace tidegate::pool
