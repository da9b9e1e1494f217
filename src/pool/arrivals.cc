// Arrivals: from the door to an engine, a place in the waiting room, or a refusal with its reason.
#include <algorithm>

#include "cost/kv_law.h"
#include "pool/pool_scheduler.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using domain::OnOverload;
using domain::Outcome;
using domain::Reason;
using domain::Request;
using domain::Resource;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

// Sizes far beyond any engine, refused before they enter any sum.
constexpr Tokens kAbsurd{std::int64_t{1} << 31};

bool sound(const domain::Footprint& footprint) {
  if (footprint.prompt < Tokens(1) || footprint.prompt > kAbsurd) return false;
  if (footprint.max_output < Tokens(1) || footprint.max_output > kAbsurd) return false;
  return std::all_of(
      footprint.output.lengths.begin(), footprint.output.lengths.end(),
      [&](Tokens length) { return length >= Tokens(1) && length <= footprint.max_output; });
}

}  // namespace

void PoolScheduler::on(const domain::Arrived& event) {
  const Request& request = event.request;
  if (table_.find(request.id) != kNoSlot) {
    counters_.dropped_events += 1;
    return;
  }
  counters_.arrived += 1;
  if (const auto refusal = refusal_at_the_door(request)) return refuse(request, *refusal);
  TenantAccount& account = accounts_[*tenant_index(request.tenant)];
  Reservation reservation;
  if (const auto quota = account.reserve(request, now_, reservation)) {
    return refuse(request, {Outcome::kRejectedQuota, quota->reason, quota->full,
                            std::max(Nanos(1), quota->drains_in)});
  }
  if (request.caller_retries == 0) account.count_first_try();
  const SlotIndex slot = enter(request, reservation);
  if (!table_[slot].surplus || finds_idle_engine(slot)) {
    if (try_newcomer(slot)) return;
  }
  start_waiting(slot);
}

// What can be said without touching any state.
std::optional<PoolScheduler::Refusal> PoolScheduler::refusal_at_the_door(
    const Request& request) const {
  const auto model = model_index(request.model);
  if (draining_) return Refusal{.outcome = Outcome::kShutdown, .reason = Reason::kDraining};
  if (!model || !tenant_index(request.tenant) || !sound(request.footprint)) {
    return Refusal{.outcome = Outcome::kRejectedInvalid, .reason = Reason::kNeverFits};
  }
  if (const auto refusal = cannot_run(request, *model)) return refusal;
  if (now_ > std::min(request.promise.first_token_due, request.promise.total_due)) {
    return Refusal{.outcome = Outcome::kDeadlineExceeded, .reason = Reason::kDeadlinePassed};
  }
  if (table_.size() == table_.capacity()) {
    const Candidates candidates{engines_, models_[*model].engines};
    return Refusal{.reason = Reason::kQueueFull,
                   .full = Resource::kQueue,
                   .drains_in = queue_drain(candidates, domain::Tier::kWithinShare)};
  }
  return std::nullopt;
}

// Does any engine of the model live, and could one of them ever hold the request?
std::optional<PoolScheduler::Refusal> PoolScheduler::cannot_run(const Request& request,
                                                                std::size_t model) const {
  bool known = false;
  bool ready = false;
  bool fits = false;
  bool fits_ready = false;
  for (const EngineIndex index : models_[model].engines) {
    const EngineView& engine = engines_[index];
    const bool here = cost::can_ever_fit(engine.spec(), request.footprint);
    known = true;
    fits = fits || here;
    ready = ready || engine.ready();
    fits_ready = fits_ready || (here && engine.ready());
  }
  if (known && !fits) {
    return Refusal{.outcome = Outcome::kRejectedInvalid, .reason = Reason::kNeverFits};
  }
  if (fits_ready) return std::nullopt;
  return Refusal{.reason = Reason::kNoEngine,
                 .full = Resource::kSequences,
                 .drains_in = config_.policy.no_engine_retry};
}

void PoolScheduler::refuse(const Request& request, const Refusal& refusal) {
  counters_.ended += 1;
  decisions_.emplace_back(domain::End{request.id, refusal.outcome, refusal.reason, refusal.full,
                                      jittered(refusal.drains_in)});
}

SlotIndex PoolScheduler::enter(const Request& request, const Reservation& reservation) {
  const SlotIndex slot = table_.take(request.id);
  TIDEGATE_CHECK(slot != kNoSlot);
  Entry& entry = table_[slot];
  entry.request = request;
  entry.phase = Phase::kWaiting;
  entry.model = *model_index(request.model);
  entry.tenant = *tenant_index(request.tenant);
  entry.reservation = reservation;
  entry.waits_since = now_;
  entry.band = Band::kShare;
  if (request.promise.best_effort()) {
    entry.band = Band::kBestEffort;
  } else if (accounts_[entry.tenant].guarantee(request, now_, entry.reservation)) {
    entry.band = Band::kGuaranteed;
  }
  if (entry.band != Band::kBestEffort && request.promise.token_pace > Nanos(0)) {
    models_[entry.model].expected_pace.see(request.promise.token_pace, now_);
  }
  join_lane(slot);
  entry.surplus = above_price(slot);
  return slot;
}

// Engine time that prompts due before `slot` have still to get on all `ready` engines, from a look
// at some of them in turn: placement keeps them alike. O(kLooks).
Nanos PoolScheduler::engine_queue(SlotIndex slot, std::int64_t ready) {
  constexpr std::size_t kLooks = 8;
  const Entry& entry = table_[slot];
  Model& model = models_[entry.model];
  const domain::Tier tier = room_.tier(entry.lane);
  Nanos found(0);
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < std::min(kLooks, model.engines.size()); ++i) {
    const EngineView& engine = engines_[model.engines[model.sample_turn++ % model.engines.size()]];
    if (!engine.ready()) continue;
    found += engine.prefill_time(engine.load(tier), engine.ahead_of(tier, entry.key));
    seen += 1;
  }
  return seen == 0 ? Nanos(0) : Nanos(units::multiply_divide(found.value(), ready, seen));
}

// Engine time of the queue that the tenant of `slot` is content with beyond what others are, for so
// many engines together.
Nanos PoolScheduler::patience(SlotIndex slot, std::int64_t ready) const {
  const Entry& entry = table_[slot];
  if (accounts_[entry.tenant].tenant().on_overload != OnOverload::kQueue) return Nanos(0);
  const PoolPolicy& policy = config_.policy;
  const auto more = std::max(units::Ppm(0), policy.patient_queue_target - policy.queue_target);
  const Nanos time = units::scaled(std::max(Nanos(0), entry.key.due - now_), more);
  return Nanos(units::multiply_saturating(time.value(), ready));
}

// Counts the newcomer's demand. Is it beyond its tenant's share of the pool? An unmeasured law
// holds nobody back.
bool PoolScheduler::above_price(SlotIndex slot) {
  Entry& entry = table_[slot];
  if (entry.band == Band::kBestEffort) return false;
  Model& model = models_[entry.model];
  const std::int64_t ready = model.ready;
  if (ready == 0) return false;
  const EngineView& engine = engines_[model.engines.front()];
  const Nanos size = engine.price(entry.request.footprint);
  const bool guaranteed = entry.band == Band::kGuaranteed;
  const Nanos time = entry.key.due - now_;
  if (entry.request.caller_retries == 0) {
    model.price.ask({entry.tenant, size, time, guaranteed}, now_);
  }
  if (guaranteed || entry.key.due == Instant::never() || !engine.law().calibrated()) return false;
  const bool alone = room_.waiting(entry.model) == 1;
  const Work queued = alone ? Work{} : room_.ahead_of(entry.key, entry.lane);
  const Nanos ahead = queued.price + engine_queue(slot, ready) - patience(slot, ready);
  const ShadowPrice::Verdict verdict = model.price.judge({.tenant = entry.tenant,
                                                          .size = size,
                                                          .ahead = std::max(Nanos(0), ahead),
                                                          .time = time,
                                                          .engines = ready},
                                                         now_);
  entry.surplus_drains_in = verdict.drains_in;
  return verdict.above;
}

// What is beyond a share may use an engine that has nothing else to do.
bool PoolScheduler::finds_idle_engine(SlotIndex slot) const {
  const Entry& entry = table_[slot];
  const auto& engines = models_[entry.model].engines;
  return std::any_of(engines.begin(), engines.end(), [&](EngineIndex index) {
    return engines_[index].idle() && could_use(entry.request, engines_[index]);
  });
}

// No engine takes it now: hold it, loosen its promise if the tenant agreed, or refuse it.
void PoolScheduler::start_waiting(SlotIndex slot) {
  const Expectation expected = expectation(slot);
  if (const auto refusal = may_not_wait(slot, expected)) return finish(slot, *refusal, {});
  const Instant gives_up = gives_up_after(slot);
  if (promise_is_lost(slot, expected, gives_up)) {
    if (!downgrade(slot)) return finish(slot, too_late(slot, expected), {});
    if (table_[slot].phase != Phase::kWaiting) return;
    return keep_waiting(slot, expectation(slot), gives_up_after(slot));
  }
  keep_waiting(slot, expected, gives_up);
}

void PoolScheduler::keep_waiting(SlotIndex slot, const Expectation& expected, Instant gives_up) {
  timers_.set(slot, gives_up);
  hold(slot, expected, gives_up);
}

// Waiting is hopeless already, or will be by all that is known and the tenant wants to hear it now.
bool PoolScheduler::promise_is_lost(SlotIndex slot, const Expectation& expected,
                                    Instant gives_up) const {
  const Entry& entry = table_[slot];
  if (now_ >= gives_up) return true;
  if (entry.surplus) return true;
  if (accounts_[entry.tenant].tenant().on_overload == OnOverload::kQueue) return false;
  return expected.measured && expected.first_token > entry.key.due;
}

// Retrying helps once the work ahead has shrunk by as much as the first token would be late. Who is
// above its share is told so: others have too little of what is full because of it.
PoolScheduler::Refusal PoolScheduler::too_late(SlotIndex slot, const Expectation& expected) const {
  const Entry& entry = table_[slot];
  const bool above = entry.surplus || room_.tier(entry.lane) == domain::Tier::kAboveShare;
  const Nanos late = std::max(Nanos(1), expected.first_token - entry.key.due);
  return {.reason = above ? Reason::kOverFairShare : expected.reason,
          .full = expected.full,
          .drains_in = entry.surplus ? std::max(late, entry.surplus_drains_in) : late};
}

// Bounds on waiting itself: the tenant's, the pool's, and the budget of repeated requests.
std::optional<PoolScheduler::Refusal> PoolScheduler::may_not_wait(SlotIndex slot,
                                                                  const Expectation& expected) {
  const Entry& entry = table_[slot];
  TenantAccount& account = accounts_[entry.tenant];
  const domain::Tenant& tenant = account.tenant();
  const Nanos until_start = std::max(Nanos(1), expected.start - now_);
  if (account.at_in_flight_limit() && tenant.on_overload != OnOverload::kQueue) {
    return Refusal{Outcome::kRejectedQuota, Reason::kInFlight, Resource::kTenantSlots, until_start};
  }
  if (tenant.limits.queued && room_.waiting_of_tenant(entry.tenant) > *tenant.limits.queued) {
    return Refusal{Outcome::kRejectedQuota, Reason::kTenantQueue, Resource::kTenantSlots,
                   until_start};
  }
  if (auto full = queue_full(slot)) return full;
  if (entry.request.caller_retries == 0 || account.take_retry()) return std::nullopt;
  return Refusal{.reason = expected.reason, .full = expected.full, .drains_in = until_start};
}

// The pool's own bound. A better tier displaces best effort that waits (invariant S14).
std::optional<PoolScheduler::Refusal> PoolScheduler::queue_full(SlotIndex slot) {
  if (room_.waiting() <= config_.limits.max_queued) return std::nullopt;
  const Entry& entry = table_[slot];
  const Candidates candidates{engines_, models_[entry.model].engines};
  const Refusal full{.reason = Reason::kQueueFull,
                     .full = Resource::kQueue,
                     .drains_in = queue_drain(candidates, room_.tier(entry.lane))};
  if (entry.band == Band::kBestEffort) return full;
  const SlotIndex victim = room_.last_best_effort(entry.model);
  if (victim == kNoSlot) return full;
  finish(victim, full, {});
  return std::nullopt;
}

// Loosens the promise to best effort where the tenant opted in; false when it did not.
bool PoolScheduler::downgrade(SlotIndex slot) {
  Entry& entry = table_[slot];
  if (accounts_[entry.tenant].tenant().on_overload != OnOverload::kDowngrade) return false;
  if (entry.band == Band::kBestEffort) return false;
  leave_room(slot);
  entry.surplus = false;
  entry.request.promise = {};
  entry.band = Band::kBestEffort;
  decisions_.emplace_back(domain::Downgrade{entry.request.id, entry.request.promise});
  join_lane(slot);
  try_newcomer(slot);
  return true;
}

void PoolScheduler::on(const domain::CallerLeft& event) {
  const SlotIndex slot = table_.find(event.request);
  if (slot == kNoSlot) {
    counters_.dropped_events += 1;
    return;
  }
  const domain::Usage usage = usage_so_far(table_[slot]);
  if (table_[slot].phase == Phase::kOnEngine) abort(slot);
  finish(slot, {.outcome = Outcome::kCancelled, .reason = Reason::kCallerLeft}, usage);
}

}  // namespace tidegate::pool
