#include "invariants/pool_oracle.h"

#include <algorithm>
#include <utility>

#include "cost/kv_law.h"

namespace tidegate::invariants {

using domain::AttemptRef;
using domain::Outcome;
using domain::Reason;
using domain::Tier;
using units::RequestId;
using units::Tokens;

namespace {

// The pool may look at a try as it was up to so many tokens ago.
constexpr std::int64_t kPredictionAge = 31;

bool refusal(Outcome outcome) {
  return outcome == Outcome::kRejectedInvalid || outcome == Outcome::kRejectedCapacity ||
         outcome == Outcome::kRejectedQuota;
}

std::int64_t longest(const domain::Footprint& footprint) {
  return (footprint.prompt + footprint.max_output).value();
}

}  // namespace

PoolOracle::PoolOracle(const pool::PoolConfig& config) : config_(config) {}

Violations PoolOracle::check_step(units::Instant now, const domain::Event& event,
                                  std::span<const domain::Decision> decisions,
                                  const PoolView& view) {
  advance(now);
  std::visit([this](const auto& e) { hear(e); }, event);
  for (const domain::Decision& decision : decisions) {
    std::visit([this](const auto& d) { check(d); }, decision);
  }
  check_expectations();
  check_requests(view);
  check_engines(view);
  check_tenants(view);
  return findings_.take();
}

void PoolOracle::advance(units::Instant now) {
  findings_.expect(now >= now_, Invariant::kS12Time, "time went from {} ns back to {} ns",
                   now_.ns(), now.ns());
  if (!std::exchange(started_, true)) start_ = now;
  now_ = std::max(now_, now);
  if (wake_at_ <= now_) wake_at_ = units::Instant::never();  // that one is used up
}

PoolOracle::Alive* PoolOracle::find(RequestId id, const char* what) {
  const auto it = alive_.find(id);
  findings_.expect(it != alive_.end(), Invariant::kS3OneEnd, "{} for request {}, which {}", what,
                   id.value(), ended_.contains(id) ? "has ended" : "never arrived");
  return it == alive_.end() ? nullptr : &it->second;
}

PoolOracle::Alive* PoolOracle::live(const AttemptRef& ref) {
  const auto it = alive_.find(ref.request);
  return it != alive_.end() && it->second.live == ref ? &it->second : nullptr;
}

PoolOracle::Engine* PoolOracle::current(units::EngineId id, units::Epoch epoch) {
  const auto it = engines_.find(id);
  const bool same = it != engines_.end() && it->second.up && it->second.spec.epoch == epoch;
  return same ? &it->second : nullptr;
}

const domain::Tenant* PoolOracle::tenant(units::TenantId id) const {
  const auto it = std::ranges::find(config_.tenants, id, &domain::Tenant::id);
  return it == config_.tenants.end() ? nullptr : &*it;
}

// A try that told tokens is not tried again: the caller would see them twice.
void PoolOracle::lose(Alive& alive) {
  if (alive.delivered > 0) alive.must_end_as = Outcome::kEngineFailed;
  alive.live.reset();
  alive.delivered = 0;
}

void PoolOracle::lose(Engine& engine) {
  for (const auto& [key, booked] : engine.booked) {
    if (Alive* alive = live(booked.ref)) lose(*alive);
  }
  engine.booked.clear();
}

void PoolOracle::unbook(const AttemptRef& ref) {
  if (Engine* engine = current(ref.engine, ref.epoch)) {
    engine->booked.erase({ref.request, ref.attempt});
  }
}

void PoolOracle::hear(const domain::Arrived& e) {
  alive_.try_emplace(e.request.id, Alive{.request = e.request});
}

void PoolOracle::hear(const domain::CallerLeft& e) {
  const auto it = alive_.find(e.request);
  if (it != alive_.end()) it->second.must_end_as = Outcome::kCancelled;
}

void PoolOracle::hear(const domain::EngineJoined& e) {
  const auto [it, fresh] = engines_.try_emplace(e.spec.id, Engine{.spec = e.spec});
  Engine& engine = it->second;
  if (fresh || e.spec.epoch < engine.spec.epoch) return;
  if (e.spec.epoch > engine.spec.epoch) lose(engine);
  engine.spec = e.spec;
  engine.up = true;
  engine.draining = false;
}

void PoolOracle::hear(const domain::EngineDraining& e) {
  if (Engine* engine = current(e.engine, e.epoch)) engine->draining = true;
}

void PoolOracle::hear(const domain::EngineLost& e) {
  Engine* engine = current(e.engine, e.epoch);
  if (engine == nullptr) return;
  lose(*engine);
  engine->up = false;
}

void PoolOracle::hear(const domain::Accepted& /*e*/) {}
void PoolOracle::hear(const domain::StateReport& /*e*/) {}
void PoolOracle::hear(const domain::Tick& /*e*/) {}

void PoolOracle::hear(const domain::TokensProduced& e) {
  Alive* alive = live(e.ref);
  Engine* engine = current(e.ref.engine, e.ref.epoch);
  if (alive == nullptr || engine == nullptr) return;
  const Tokens room = alive->request.footprint.max_output - Tokens(alive->delivered);
  if (e.count <= Tokens(0) || e.count > room) {  // no engine can say so: its try has failed
    alive->must_end_as = Outcome::kEngineFailed;
    return;
  }
  alive->delivered += e.count.value();
  engine->booked[{e.ref.request, e.ref.attempt}].delivered = alive->delivered;
}

void PoolOracle::hear(const domain::Finished& e) {
  if (Alive* alive = live(e.ref)) {
    alive->must_end_as = e.outcome;
    alive->told = true;
    alive->live.reset();
  }
  unbook(e.ref);
}

void PoolOracle::hear(const domain::Failed& e) {
  if (Alive* alive = live(e.ref)) lose(*alive);
  unbook(e.ref);
}

void PoolOracle::hear(const domain::DrainRequested& e) {
  if (!e.abandon) return;
  for (auto& [id, alive] : alive_) alive.must_end_as = Outcome::kShutdown;
}

void PoolOracle::check(const domain::Admit& d) {
  Alive* alive = find(d.request, "an admission");
  if (alive == nullptr) return;
  findings_.expect(!std::exchange(alive->admitted, true), Invariant::kS3OneEnd,
                   "request {} was admitted twice", d.request.value());
}

void PoolOracle::check(const domain::Hold& d) {
  const Alive* alive = find(d.request, "a hold");
  if (alive == nullptr) return;
  findings_.expect(!alive->live, Invariant::kS5OneTry, "request {} is held while it runs",
                   d.request.value());
  findings_.expect(d.reason != Reason::kNone && d.position >= 0, Invariant::kS4NoneLost,
                   "request {} is held at position {} for reason {}", d.request.value(), d.position,
                   domain::name(d.reason));
}

void PoolOracle::check(const domain::End& d) {
  Alive* alive = find(d.request, "an end");
  if (alive == nullptr) return;
  check_ending(d, *alive);
  if (alive->live) {
    Engine* engine = current(alive->live->engine, alive->live->epoch);
    if (engine != nullptr) {
      engine->booked[{alive->live->request, alive->live->attempt}].must_abort = true;
    }
  }
  settle(d, *alive);
  alive_.erase(d.request);
  ended_.insert(d.request);
}

void PoolOracle::check_ending(const domain::End& d, const Alive& alive) {
  const auto id = d.request.value();
  findings_.expect(!alive.must_end_as || *alive.must_end_as == d.outcome, Invariant::kS3OneEnd,
                   "request {} ended {} and not {}", id, domain::name(d.outcome),
                   domain::name(alive.must_end_as.value_or(d.outcome)));
  findings_.expect(d.outcome != Outcome::kCompleted || alive.must_end_as == Outcome::kCompleted,
                   Invariant::kS6Tokens, "request {} ended completed, but no engine finished it",
                   id);
  findings_.expect(alive.told || d.reason != Reason::kNone, Invariant::kS3OneEnd,
                   "request {} ended {} without a reason", id, domain::name(d.outcome));
  findings_.expect(!refusal(d.outcome) || (!alive.live && alive.delivered == 0),
                   Invariant::kS3OneEnd, "request {} was refused while it ran", id);
  findings_.expect(d.reason != Reason::kNeverFits || !could_fit_somewhere(alive.request),
                   Invariant::kS9NeverFits, "request {} was refused for ever, but an engine fits",
                   id);
}

void PoolOracle::settle(const domain::End& d, const Alive& alive) {
  if (refusal(d.outcome)) return;
  Spent& spent = spent_[alive.request.tenant];
  if (d.outcome != Outcome::kCompleted) return;
  const domain::Tenant* own = tenant(alive.request.tenant);
  if (own == nullptr) return;
  const Tokens limit = own->limits.tokens_per_min.value_or(Tokens::max());
  spent.requests += 1;
  spent.tokens += std::min(alive.request.footprint.prompt + Tokens(alive.delivered), limit).value();
}

void PoolOracle::check(const domain::Downgrade& d) {
  if (Alive* alive = find(d.request, "a downgrade")) alive->request.promise = d.promise;
}

void PoolOracle::check(const domain::Assign& d) {
  Alive* alive = find(d.ref.request, "an assignment");
  if (alive == nullptr) return;
  const auto id = d.ref.request.value();
  findings_.expect(!alive->live, Invariant::kS5OneTry, "request {} has a live try already", id);
  findings_.expect(!alive->last || *alive->last < d.ref.attempt, Invariant::kS5OneTry,
                   "request {} takes try number {} again", id, d.ref.attempt.value());
  findings_.expect(!alive->must_end_as, Invariant::kS7Cancel,
                   "request {} was assigned when it had to end", id);
  const domain::Request& had = alive->request;
  const domain::Request& sent = d.request;
  findings_.expect(sent.id == had.id && sent.tenant == had.tenant && sent.model == had.model &&
                       sent.footprint == had.footprint && sent.promise == had.promise,
                   Invariant::kS6Tokens, "request {} was assigned as another one", id);
  check_placement(d);
  alive->live = d.ref;
  alive->last = d.ref.attempt;
  alive->delivered = 0;
}

// S10: a live engine that serves the model, takes new work and could ever hold the request.
void PoolOracle::check_placement(const domain::Assign& d) {
  const auto id = d.ref.request.value();
  Engine* engine = current(d.ref.engine, d.ref.epoch);
  findings_.expect(engine != nullptr, Invariant::kS10Placement,
                   "request {} was placed on engine {} life {}, which is not up", id,
                   d.ref.engine.value(), d.ref.epoch.value());
  if (engine == nullptr) return;
  findings_.expect(!engine->draining, Invariant::kS10Placement,
                   "request {} was placed on engine {}, which drains", id, d.ref.engine.value());
  findings_.expect(engine->spec.model == d.request.model, Invariant::kS10Placement,
                   "request {} for model {} was placed on engine {} of model {}", id,
                   d.request.model.value(), d.ref.engine.value(), engine->spec.model.value());
  findings_.expect(cost::can_ever_fit(engine->spec, d.request.footprint), Invariant::kS9NeverFits,
                   "request {} was placed on engine {}, where it can never fit", id,
                   d.ref.engine.value());
  check_memory(d, *engine);
  engine->booked[{d.ref.request, d.ref.attempt}] =
      Booked{.ref = d.ref, .tier = d.tier, .footprint = d.request.footprint};
}

// S1: what the tries that do not make way are known to hold, and the newcomer's prompt, fit
// together. An engine that none of them uses takes whatever can ever fit; one that batches with our
// scheduler may have PoolPolicy::ahead waiting for a sequence.
void PoolOracle::check_memory(const domain::Assign& d, const Engine& engine) {
  const bool preempts = engine.spec.own_batching && d.tier != Tier::kBestEffort;
  std::int64_t sequences = 0;
  units::Blocks blocks(0);
  for (const auto& [key, booked] : engine.booked) {
    if (preempts && booked.tier == Tier::kBestEffort) continue;
    sequences += 1;
    const std::int64_t known = std::max<std::int64_t>(0, booked.delivered - kPredictionAge);
    blocks += cost::blocks_for(engine.spec.kv, booked.footprint.prompt + Tokens(known));
  }
  if (sequences == 0) return;
  blocks += cost::blocks_for(engine.spec.kv, d.request.footprint.prompt + Tokens(1));
  findings_.expect(blocks <= engine.spec.limits.kv_blocks, Invariant::kS1Memory,
                   "with request {} engine {} needs {} of {} blocks", d.ref.request.value(),
                   d.ref.engine.value(), blocks.value(), engine.spec.limits.kv_blocks.value());
  const std::int64_t ahead = engine.spec.own_batching ? config_.policy.ahead : 0;
  findings_.expect(sequences < engine.spec.limits.max_sequences + ahead, Invariant::kS1Memory,
                   "with request {} engine {} has {} for {} sequences", d.ref.request.value(),
                   d.ref.engine.value(), sequences + 1, engine.spec.limits.max_sequences);
}

void PoolOracle::check(const domain::Abort& d) {
  Engine* engine = current(d.ref.engine, d.ref.epoch);
  const bool known = engine != nullptr && engine->booked.contains({d.ref.request, d.ref.attempt});
  findings_.expect(known, Invariant::kS5OneTry,
                   "an abort names try {} of request {}, which no engine holds",
                   d.ref.attempt.value(), d.ref.request.value());
  if (!known) return;
  engine->booked[{d.ref.request, d.ref.attempt}].must_abort = false;
  if (Alive* alive = live(d.ref)) {
    alive->live.reset();
    alive->aborted = true;
  }
}

void PoolOracle::check(const domain::WakeAt& d) {
  wake_at_ = d.at;
}

void PoolOracle::check_expectations() {
  for (auto& [id, alive] : alive_) {
    findings_.expect(!alive.must_end_as, Invariant::kS7Cancel,
                     "request {} had to end {} and is still alive", id.value(),
                     domain::name(alive.must_end_as.value_or(Outcome::kCompleted)));
    alive.must_end_as.reset();
    findings_.expect(!alive.aborted, Invariant::kS3OneEnd,
                     "request {} was aborted and has not ended", id.value());
    if (!alive.live) check_waiting(alive);
  }
  check_wake();
  for (auto& [id, engine] : engines_) {
    for (auto& [key, booked] : engine.booked) {
      findings_.expect(!std::exchange(booked.must_abort, false), Invariant::kS7Cancel,
                       "request {} ended, but engine {} was not told", key.first.value(),
                       id.value());
    }
  }
}

bool PoolOracle::could_fit_somewhere(const domain::Request& request) const {
  return std::ranges::any_of(engines_, [&](const auto& entry) {
    const Engine& engine = entry.second;
    return engine.up && engine.spec.model == request.model &&
           cost::can_ever_fit(engine.spec, request.footprint);
  });
}

// S9: what waits could run on an engine that was seen at least.
void PoolOracle::check_waiting(const Alive& alive) {
  const auto id = alive.request.id.value();
  const auto serves = [&](const auto& entry) {
    return entry.second.up && entry.second.spec.model == alive.request.model;
  };
  const auto fits = [&](const auto& entry) {
    return entry.second.spec.model == alive.request.model &&
           cost::can_ever_fit(entry.second.spec, alive.request.footprint);
  };
  findings_.expect(!std::ranges::any_of(engines_, serves) || std::ranges::any_of(engines_, fits),
                   Invariant::kS9NeverFits, "request {} of {} tokens waits but can never fit", id,
                   longest(alive.request.footprint));
}

// L4: when something waits, then something will happen: a wake-up, or news of a try.
void PoolOracle::check_wake() {
  const auto waiting =
      std::ranges::count_if(alive_, [](const auto& entry) { return !entry.second.live; });
  const bool news =
      std::ranges::any_of(engines_, [](const auto& entry) { return !entry.second.booked.empty(); });
  findings_.expect(waiting == 0 || news || wake_at_ != units::Instant::never(), Invariant::kL4Wake,
                   "{} requests wait for nothing: no try is booked, no wake-up asked for", waiting);
}

// S4, S5: the pool's list of who is alive, and where, is the shadow's.
void PoolOracle::check_requests(const PoolView& view) {
  std::set<RequestId> seen;
  for (const pool::LiveView& request : view.requests) {
    const auto id = request.id.value();
    findings_.expect(seen.insert(request.id).second, Invariant::kS5OneTry,
                     "request {} is listed twice", id);
    const auto it = alive_.find(request.id);
    findings_.expect(it != alive_.end(), Invariant::kS7Cancel, "request {} is held after its end",
                     id);
    if (it == alive_.end()) continue;
    const auto& expected = it->second.live;
    findings_.expect(
        request.on_engine == expected.has_value() && (!expected || *expected == request.ref),
        Invariant::kS4NoneLost, "request {} is {} an engine and should {}be", id,
        request.on_engine ? "on" : "not on", expected ? "" : "not ");
  }
  for (const auto& [id, alive] : alive_) {
    findings_.expect(seen.contains(id), Invariant::kS4NoneLost, "request {} was lost", id.value());
  }
}

void PoolOracle::check_engines(const PoolView& view) {
  std::size_t up = 0;
  for (const BookedEngine& seen : view.engines) {
    if (current(seen.id, seen.epoch) != nullptr) up += 1;
    check_engine(seen);
  }
  const auto expected = std::ranges::count_if(engines_, [](const auto& e) { return e.second.up; });
  findings_.expect(static_cast<std::int64_t>(up) == expected, Invariant::kS10Placement,
                   "{} engines are up and the pool knows {}", expected, up);
}

// S1, S6, S7: what is booked on an engine is what was assigned and not yet confirmed.
void PoolOracle::check_engine(const BookedEngine& seen) {
  const Engine* engine = current(seen.id, seen.epoch);
  if (engine == nullptr) {
    findings_.expect(seen.tries.empty(), Invariant::kS7Cancel,
                     "engine {} is gone and still has {} tries booked", seen.id.value(),
                     seen.tries.size());
    return;
  }
  findings_.expect(!engine->draining || !seen.ready, Invariant::kS10Placement,
                   "engine {} drains and is taken for ready", seen.id.value());
  findings_.expect(seen.tries.size() == engine->booked.size(), Invariant::kS7Cancel,
                   "engine {} has {} tries booked and should have {}", seen.id.value(),
                   seen.tries.size(), engine->booked.size());
  for (const BookedTry& booked : seen.tries) {
    const auto id = booked.ref.request.value();
    const auto it = engine->booked.find({booked.ref.request, booked.ref.attempt});
    findings_.expect(it != engine->booked.end(), Invariant::kS7Cancel,
                     "request {} is booked on engine {}, which holds nothing of it", id,
                     seen.id.value());
    const bool has_ended = live(booked.ref) == nullptr;
    findings_.expect(booked.ended == has_ended, Invariant::kS4NoneLost,
                     "request {} is booked on engine {} as {}", id, seen.id.value(),
                     booked.ended ? "ended" : "alive");
    if (it == engine->booked.end() || has_ended) continue;
    findings_.expect(booked.produced.value() == it->second.delivered, Invariant::kS6Tokens,
                     "request {} is booked with {} tokens of {} told", id, booked.produced.value(),
                     it->second.delivered);
  }
}

void PoolOracle::check_tenants(const PoolView& view) {
  for (const TenantView& seen : view.tenants) check_tenant(seen);
}

// S8: each hold is counted once, and no limit is passed.
void PoolOracle::check_tenant(const TenantView& seen) {
  const domain::Tenant* own = tenant(seen.id);
  if (own == nullptr) return;
  const domain::TenantLimits& limits = own->limits;
  const std::int64_t token_limit = limits.tokens_per_min.value_or(Tokens::max()).value();
  std::int64_t alive = 0;
  std::int64_t running = 0;
  std::int64_t queued = 0;  // those that come back from a lost engine are not queued again
  std::int64_t tokens = 0;
  for (const auto& [id, request] : alive_) {
    if (request.request.tenant != seen.id) continue;
    alive += 1;
    queued += request.admitted ? 0 : 1;
    running += request.live ? 1 : 0;
    tokens += std::min(longest(request.request.footprint), token_limit);
  }
  const auto id = seen.id.value();
  findings_.expect(seen.alive == alive && seen.on_engines == running, Invariant::kS8Quota,
                   "tenant {} is charged for {} requests, {} on engines; it has {} and {}", id,
                   seen.alive, seen.on_engines, alive, running);
  findings_.expect(running <= limits.in_flight.value_or(INT64_MAX), Invariant::kS8Quota,
                   "tenant {} has {} requests on engines", id, running);
  findings_.expect(queued <= limits.queued.value_or(INT64_MAX), Invariant::kS8Quota,
                   "tenant {} has {} requests waiting", id, queued);
  findings_.expect(alive > 0 || seen.reserved_tokens == 0, Invariant::kS8Quota,
                   "tenant {} has no request alive and {} tokens reserved", id,
                   seen.reserved_tokens);
  // A bucket starts full and refills once a minute: what was given is at most that.
  const auto given = [&](std::int64_t limit) {
    constexpr std::int64_t kMinute = 60'000'000'000;
    const std::int64_t passed = (now_ - start_).value();
    return units::add_saturating(limit, units::multiply_divide(limit, passed, kMinute));
  };
  const Spent& spent = spent_[seen.id];
  findings_.expect(
      !limits.requests_per_min || spent.requests + alive <= given(*limits.requests_per_min),
      Invariant::kS8Quota, "tenant {} was given {} requests", id, spent.requests + alive);
  findings_.expect(!limits.tokens_per_min || spent.tokens + tokens <= given(token_limit),
                   Invariant::kS8Quota, "tenant {} was given {} tokens", id, spent.tokens + tokens);
}

}  // namespace tidegate::invariants
