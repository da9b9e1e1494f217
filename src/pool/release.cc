// Release: which waiting request goes to which engine, and what those that stay are told.
#include <algorithm>
#include <utility>

#include "cost/length_forecast.h"
#include "pool/pool_scheduler.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using units::Instant;
using units::Nanos;
using units::Tokens;

OrderKey PoolScheduler::order_key(const Entry& entry) const {
  const domain::Request& request = entry.request;
  const domain::Promise& promise = request.promise;
  if (promise.best_effort()) return {Instant::never(), request.arrival, request.id};
  Nanos decode{0};
  Nanos prefill{0};
  const auto& engines = models_[entry.model].engines;
  if (!engines.empty()) {
    const EngineView& engine = engines_[engines.front()];
    const std::int64_t output = cost::remaining(request.footprint, Tokens(0)).mean.value();
    decode = engine.nominal_step() * (output - 1);
    prefill = engine.price(request.footprint.prompt, Tokens(0));
  }
  const Instant due = std::min(promise.first_token_due, promise.total_due - decode);
  return {due, due - prefill, request.id};
}

void PoolScheduler::join_lane(SlotIndex slot) {
  Entry& entry = table_[slot];
  entry.phase = Phase::kWaiting;
  entry.lane = room_.lane_of(entry.model, entry.tenant, entry.band);
  entry.key = order_key(entry);
  const domain::Footprint& footprint = entry.request.footprint;
  Work work = prefill_work(footprint.prompt, footprint.prompt);
  work.memory = footprint.prompt + cost::remaining(footprint, Tokens(0)).mean;
  const auto& engines = models_[entry.model].engines;
  if (!engines.empty()) work.price = engines_[engines.front()].price(footprint);
  room_.enter(slot, entry.lane, entry.key, work);
}

Ask PoolScheduler::ask_for(SlotIndex slot) const {
  const Entry& entry = table_[slot];
  return {.request = &entry.request,
          .tier = room_.tier(entry.lane),
          .key = entry.key,
          .entitled = !accounts_[entry.tenant].at_in_flight_limit()};
}

// The pace that the model's next requests will want is kept, unless so many engines have room for
// it that one of them may be filled by whoever is content with less. From a look at some of them.
// O(kLooks), and O(pledges) for each that does not keep it by the bound on its peak.
void PoolScheduler::expect_pace(const Entry& entry, Ask& ask) const {
  constexpr std::size_t kLooks = 8;
  constexpr int kEnough = 2;
  const Model& model = models_[entry.model];
  const Nanos pace = model.expected_pace.at(now_);
  const Nanos own = entry.request.promise.token_pace;
  if (pace == Nanos::max() || (own > Nanos(0) && own <= pace)) return;
  int with_room = 0;
  const std::size_t all = model.engines.size();
  const std::size_t first = entry.request.id.value() % std::max<std::size_t>(1, all);
  for (std::size_t i = 0; i < std::min(kLooks, all); ++i) {
    const EngineView& engine = engines_[model.engines[(first + i) % all]];
    const bool taken = engine.load(domain::Tier::kWithinShare).promised_pace <= pace;
    if (!engine.ready() || taken) continue;
    if (!keeps_pace(engine, config_.policy, domain::Tier::kWithinShare, pace)) continue;
    if (++with_room == kEnough) return;
  }
  ask.expected_pace = pace;
  ask.expected_elsewhere = with_room > 0;
}

Expectation PoolScheduler::expectation(SlotIndex slot) const {
  const Entry& entry = table_[slot];
  Expectation expected = expect(ask_for(slot), {engines_, models_[entry.model].engines},
                                room_.ahead_of(entry.key, entry.lane), now_);
  if (accounts_[entry.tenant].at_in_flight_limit()) {
    const Instant start = now_ + next_end_of(entry.tenant);
    if (start <= expected.start) return expected;
    expected.first_token = expected.first_token + (start - expected.start);
    expected.start = start;
    expected.reason = domain::Reason::kInFlight;
    expected.full = domain::Resource::kTenantSlots;
    return expected;
  }
  // The sums may see room where the predicate, which knows each engine, saw none.
  const bool lacks_room = entry.blocked.part == Part::kMemory || entry.blocked.part == Part::kPace;
  if (!lacks_room || expected.full != domain::Resource::kStepTime) return expected;
  expected.reason = entry.blocked.reason;
  expected.full = entry.blocked.full;
  if (entry.blocked_until > expected.start) {
    expected.first_token = expected.first_token + (entry.blocked_until - expected.start);
    expected.start = entry.blocked_until;
  }
  return expected;
}

// Predicted time until one of the tenant's requests on engines ends. O(pledges).
Nanos PoolScheduler::next_end_of(std::size_t tenant) const {
  Nanos soonest = Nanos::max();
  for (const EngineView& engine : engines_) {
    for (const Pledge& pledge : engine.ledger()) {
      if (!pledge.used || pledge.ghost() || table_[pledge.slot].tenant != tenant) continue;
      soonest = std::min(soonest, pledge_drain(engine, pledge));
    }
  }
  return soonest == Nanos::max() ? Nanos(0) : soonest;
}

bool PoolScheduler::try_place(SlotIndex slot, std::span<const EngineIndex> engines,
                              Verdict& verdict) {
  Entry& entry = table_[slot];
  Ask ask = ask_for(slot);
  expect_pace(entry, ask);
  const Choice choice =
      choose(ask, {engines_, engines, entry.avoid}, {config_.policy, now_}, prng_);
  verdict = choice.verdict;
  entry.blocked = choice.verdict;
  entry.blocked_until = now_ + choice.verdict.drains_in;
  if (!choice.engine) {
    if (ask.expected_pace != Nanos::max()) models_[entry.model].pace_kept = true;
    return false;
  }
  assign(slot, *choice.engine, choice.verdict);
  return true;
}

// The next in release order that waits for room on one of `engines`, not for another engine.
SlotIndex PoolScheduler::next_that_can_run(std::span<const EngineIndex> engines) {
  SlotIndex slot = walk_.next();
  while (slot != kNoSlot && !can_run(slot, engines)) slot = walk_.next();
  return slot;
}

// One that has just joined its lane goes at once if nobody is before it, or if it may pass those
// who are: they did not fit when room was last made, and none has been made since.
bool PoolScheduler::try_newcomer(SlotIndex slot) {
  const std::size_t model = table_[slot].model;
  Verdict verdict;
  skipped_.clear();
  room_.start(walk_, model, table_[slot].band == Band::kBestEffort);
  for (std::int64_t i = 0; i <= config_.policy.scan_depth; ++i) {
    const SlotIndex next = next_that_can_run(models_[model].engines);
    if (next == kNoSlot) return false;
    if (next == slot) {
      if (!try_place(slot, models_[model].engines, verdict)) return false;
      count_bypasses();
      return true;
    }
    if (table_[next].bypassed >= config_.policy.max_bypass) return false;
    skipped_.push_back(next);
  }
  return false;
}

void PoolScheduler::count_bypasses() {
  for (const SlotIndex passed : skipped_) table_[passed].bypassed += 1;
  counters_.bypasses += static_cast<std::int64_t>(skipped_.size());
}

// The first in release order that fits one of `engines` goes; false when none does.
bool PoolScheduler::walk(std::size_t model, std::span<const EngineIndex> engines,
                         bool best_effort_only) {
  skipped_.clear();
  room_.start(walk_, model, best_effort_only);
  bool best_effort = best_effort_only;
  for (std::int64_t looked = 0; looked < config_.policy.scan_depth; ++looked) {
    const SlotIndex slot = next_that_can_run(engines);
    if (slot == kNoSlot) return false;
    if (!best_effort && table_[slot].band == Band::kBestEffort) {
      best_effort = true;
      skipped_.clear();  // best effort makes way: those before it lose nothing
      looked = 0;
    }
    Verdict verdict;
    if (try_place(slot, engines, verdict)) {
      count_bypasses();
      return true;
    }
    const bool for_lack_of_room = verdict.part != Part::kFirstToken;
    if (for_lack_of_room) skipped_.push_back(slot);
    // Nobody else of its kind fits when sequences are full, and one who was passed often enough
    // is waited for.
    const bool stop = verdict.full == domain::Resource::kSequences ||
                      (for_lack_of_room && table_[slot].bypassed >= config_.policy.max_bypass);
    if (!stop) continue;
    if (best_effort) return false;
    walk_.skip_to_best_effort();
    looked = -1;
  }
  return false;
}

bool PoolScheduler::release_next(std::size_t model, std::span<const EngineIndex> engines) {
  if (room_.waiting(model) == 0) return false;
  if (drip_due(model) && walk(model, engines, true)) return true;
  return walk(model, engines, false);
}

// Room was made on this engine.
void PoolScheduler::release(EngineIndex engine) {
  const auto model = model_index(engines_[engine].spec().model);
  if (!model || !engines_[engine].ready()) return;
  const EngineIndex only[] = {engine};
  bool moved = false;
  while (release_next(*model, only)) moved = true;
  if (moved) announce(*model);
}

void PoolScheduler::release_all(std::size_t model) {
  while (release_next(model, models_[model].engines)) continue;
}

void PoolScheduler::unblock(std::size_t tenant) {
  if (!room_.blocked(tenant) || accounts_[tenant].at_in_flight_limit()) return;
  room_.set_blocked(tenant, false);
  unblocked_.push_back(tenant);
}

// Their requests may fit engines on which no room was made now.
void PoolScheduler::serve_unblocked() {
  for (std::size_t i = 0; i < unblocked_.size(); ++i) {
    if (room_.waiting_of_tenant(unblocked_[i]) == 0) continue;
    for (std::size_t model = 0; model < models_.size(); ++model) {
      release_all(model);
    }
  }
  unblocked_.clear();
}

// Whoever waited only for the sake of a pace that nobody asks for any more may start.
void PoolScheduler::forget_paces() {
  for (Model& model : models_) {
    if (!model.pace_kept || now_ < model.expected_pace.lapses_at()) continue;
    model.pace_kept = false;
    model.held_up = true;
  }
}

// Each turn places a request or clears a mark, so this ends.
void PoolScheduler::serve_held_up() {
  for (std::size_t model = 0; model < models_.size(); ++model) {
    while (std::exchange(models_[model].held_up, false)) release_all(model);
  }
}

void PoolScheduler::assign(SlotIndex slot, EngineIndex index, const Verdict& verdict) {
  Entry& entry = table_[slot];
  EngineView& engine = engines_[index];
  entry.tier = room_.tier(entry.lane);
  const Nanos price = engine.price(entry.request.footprint);
  room_.charge(entry.lane, price);
  entry.charged = price;
  leave_room(slot);
  count_drip(entry, price);

  entry.phase = Phase::kOnEngine;
  entry.engine = index;
  entry.ref = {entry.request.id, units::Attempt(entry.ref.attempt.value() + 1), engine.spec().id,
               engine.spec().epoch};
  entry.pledge = engine.add({entry.ref, slot, entry.tier, entry.key}, entry.request);
  accounts_[entry.tenant].started();
  room_.set_blocked(entry.tenant, accounts_[entry.tenant].at_in_flight_limit());
  timers_.set(slot, entry.request.promise.total_due + Nanos(1));
  if (verdict.shadow_failure) counters_.shadow_failures += 1;
  if (!entry.admitted) decisions_.emplace_back(domain::Admit{entry.request.id, entry.tier});
  entry.admitted = true;
  decisions_.emplace_back(domain::Assign{entry.ref, entry.request, entry.tier});
}

// While best effort waits, a share of all that others get is credited to it.
void PoolScheduler::count_drip(const Entry& entry, Nanos price) {
  Nanos& credit = models_[entry.model].drip_credit;
  if (room_.active(entry.model, Band::kBestEffort).empty()) {
    credit = Nanos(0);
  } else if (entry.band == Band::kBestEffort) {
    credit = std::max(Nanos(0), credit - price);
  } else if (!drip_due(entry.model)) {
    credit += units::scaled(price, config_.policy.drip);
  }
}

// Has best effort earned the price of its first in line?
bool PoolScheduler::drip_due(std::size_t model) {
  const Nanos credit = models_[model].drip_credit;
  if (credit == Nanos(0) || room_.active(model, Band::kBestEffort).empty()) return false;
  room_.start(drip_walk_, model, true);
  const SlotIndex first = drip_walk_.next();
  if (first == kNoSlot) return false;
  return credit >= engines_[models_[model].engines.front()].price(table_[first].request.footprint);
}

void PoolScheduler::hold(SlotIndex slot, const Expectation& expectation, Instant gives_up) {
  Entry& entry = table_[slot];
  entry.announced_position = expectation.position;
  entry.announced_eta = expectation.start;
  const bool blocked = accounts_[entry.tenant].at_in_flight_limit();
  decisions_.emplace_back(domain::Hold{
      .request = entry.request.id,
      .reason = blocked ? domain::Reason::kInFlight : expectation.reason,
      .position = expectation.position,
      .eta = expectation.start,
      .hopeless_after = gives_up,
  });
}

// Tells one of those who wait, in turn, when its outlook changed noticeably: its place halved, or
// the rest of its wait moved by more than a quarter.
void PoolScheduler::announce(std::size_t model) {
  const SlotIndex slot = room_.pick(model, models_[model].announce_turn++);
  if (slot == kNoSlot) return;
  const Entry& entry = table_[slot];
  const Expectation expected = expectation(slot);
  const Nanos rest = std::max(Nanos(0), entry.announced_eta - now_);
  const Nanos moved = expected.start > entry.announced_eta ? expected.start - entry.announced_eta
                                                           : entry.announced_eta - expected.start;
  const bool halved = expected.position <= entry.announced_position / 2 &&
                      expected.position < entry.announced_position;
  if (halved || moved > rest / 4 + units::milliseconds(10)) {
    hold(slot, expected, gives_up_after(slot));
  }
}

}  // namespace tidegate::pool
