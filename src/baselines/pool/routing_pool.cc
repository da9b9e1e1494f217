#include "baselines/pool/routing_pool.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "cost/kv_law.h"
#include "cost/length_forecast.h"
#include "units/check.h"

namespace tidegate::baselines {

using domain::Outcome;
using domain::Reason;
using domain::Request;
using domain::Resource;
using units::Instant;
using units::Tokens;

namespace {

bool sound(const domain::Footprint& footprint) {
  constexpr Tokens kAbsurd{std::int64_t{1} << 31};
  const auto within = [&](Tokens tokens) { return tokens >= Tokens(1) && tokens <= kAbsurd; };
  return within(footprint.prompt) && within(footprint.max_output);
}

domain::Tier tier_of(const Request& request) {
  return request.promise.best_effort() ? domain::Tier::kBestEffort : domain::Tier::kWithinShare;
}

}  // namespace

RoutingPool::RoutingPool(const pool::PoolConfig& config, std::unique_ptr<Router> router)
    : config_(config), router_(std::move(router)) {
  TIDEGATE_CHECK(router_ != nullptr);
  engines_.reserve(static_cast<std::size_t>(std::max<std::int64_t>(1, config_.limits.max_engines)));
  for (const domain::Tenant& tenant : config_.tenants) {
    accounts_.emplace_back(tenant, config_.policy.retry_budget);
  }
}

std::span<const domain::Decision> RoutingPool::step(const domain::Event& event, Instant now) {
  TIDEGATE_CHECK(now >= now_);
  now_ = now;
  decisions_.clear();
  std::visit([this](const auto& e) { on(e); }, event);
  return decisions_;
}

bool RoutingPool::reconfigure(const pool::PoolConfig& config) {
  if (!pool::can_follow(config_, config)) return false;
  config_.classes = config.classes;
  config_.tenants = config.tenants;
  for (std::size_t i = 0; i < config_.tenants.size(); ++i) {
    if (i < accounts_.size()) {
      accounts_[i].change(config_.tenants[i], now_);
    } else {
      accounts_.emplace_back(config_.tenants[i], config_.policy.retry_budget);
    }
  }
  router_->reconfigured(config_);
  return true;
}

// --- arrivals ---

void RoutingPool::on(const domain::Arrived& event) {
  const Request& request = event.request;
  if (live_.contains(request.id)) {
    counters_.dropped_events += 1;
    return;
  }
  counters_.arrived += 1;
  if (const auto refusal = refusal_at_the_door(request)) return refuse(request.id, *refusal);
  Live live;
  live.request = request;
  live.tenant = *tenant_index(request.tenant);
  live.expected = request.footprint.prompt + cost::remaining(request.footprint, Tokens(0)).mean;
  pool::TenantAccount& account = accounts_[live.tenant];
  if (account.at_in_flight_limit()) {
    return refuse(request.id, {Outcome::kRejectedQuota, Reason::kInFlight, Resource::kTenantSlots});
  }
  if (const auto quota = account.reserve(request, now_, live.reservation)) {
    return refuse(request.id, {Outcome::kRejectedQuota, quota->reason, quota->full});
  }
  Live& entry = live_.emplace(request.id, std::move(live)).first->second;
  if (queue_of(request).empty() && dispatch(entry)) return;
  queue_of(request).push_back(request.id);
  hold(entry);
}

std::optional<RoutingPool::Refusal> RoutingPool::refusal_at_the_door(const Request& request) const {
  if (draining_) return Refusal{Outcome::kShutdown, Reason::kDraining};
  const auto model = std::find(config_.models.begin(), config_.models.end(), request.model);
  const bool known = model != config_.models.end() && tenant_index(request.tenant);
  if (!known || !sound(request.footprint)) {
    return Refusal{Outcome::kRejectedInvalid, Reason::kNeverFits};
  }
  if (const auto refusal = cannot_run(request)) return refusal;
  const bool full = static_cast<std::int64_t>(live_.size()) >= config_.limits.max_requests;
  if (!full) return std::nullopt;
  return Refusal{.reason = Reason::kQueueFull, .full = Resource::kQueue};
}

std::optional<RoutingPool::Refusal> RoutingPool::cannot_run(const Request& request) const {
  bool seen = false;
  bool fits = false;
  for (const pool::EngineView& engine : engines_) {
    if (engine.spec().model != request.model) continue;
    const bool here = cost::can_ever_fit(engine.spec(), request.footprint);
    if (here && engine.ready()) return std::nullopt;
    seen = true;
    fits = fits || here;
  }
  if (seen && !fits) return Refusal{Outcome::kRejectedInvalid, Reason::kNeverFits};
  return Refusal{.reason = Reason::kNoEngine, .full = Resource::kSequences};
}

void RoutingPool::refuse(units::RequestId id, const Refusal& refusal) {
  counters_.ended += 1;
  decisions_.emplace_back(domain::End{id, refusal.outcome, refusal.reason, refusal.full});
}

std::vector<Target> RoutingPool::targets(const Live& live) const {
  std::vector<Target> found;
  std::optional<Target> avoided;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const bool usable = engines_[i].spec().model == live.request.model &&
                        pool::could_use(live.request, engines_[i]);
    if (!usable) continue;
    Target target = loads_[i];
    target.spec = &engines_[i].spec();
    target.report = reports_[i];
    if (live.avoid == i) {
      avoided = target;
    } else {
      found.push_back(target);
    }
  }
  if (found.empty() && avoided) found.push_back(*avoided);
  return found;
}

bool RoutingPool::dispatch(Live& live) {
  const std::vector<Target> candidates = targets(live);
  if (candidates.empty()) return false;
  const auto chosen = router_->route(live.request, candidates);
  if (!chosen) return false;
  pool::EngineView& engine = engines_[*chosen];
  live.engine = *chosen;
  live.ref = {live.request.id, units::Attempt(live.ref.attempt.value() + 1), engine.spec().id,
              engine.spec().epoch};
  const domain::Tier tier = tier_of(live.request);
  const pool::OrderKey key{Instant::never(), live.request.arrival, live.request.id};
  live.pledge = engine.add({live.ref, pool::SlotIndex{0}, tier, key}, live.request);
  live.produced = Tokens(0);
  loads_[*chosen].in_flight += 1;
  loads_[*chosen].tokens += live.request.footprint.prompt;
  loads_[*chosen].promised += live.expected;
  accounts_[live.tenant].started();
  router_->sent(live.request, *chosen);
  if (!live.admitted) decisions_.emplace_back(domain::Admit{live.request.id, tier});
  live.admitted = true;
  decisions_.emplace_back(domain::Assign{live.ref, live.request, tier});
  return true;
}

void RoutingPool::hold(const Live& live) {
  const auto ahead = static_cast<std::int64_t>(queue_of(live.request).size()) - 1;
  decisions_.emplace_back(domain::Hold{.request = live.request.id,
                                       .reason = Reason::kSequencesFull,
                                       .position = ahead,
                                       .eta = Instant::never(),
                                       .hopeless_after = Instant::never()});
}

std::deque<units::RequestId>& RoutingPool::queue_of(const Request& request) {
  return waiting_[{request.model, router_->lane(request)}];
}

void RoutingPool::release(units::ModelId model) {
  for (auto lane = waiting_.lower_bound({model, 0});
       lane != waiting_.end() && lane->first.first == model; ++lane) {
    auto& queue = lane->second;
    while (!queue.empty() && dispatch(live_.at(queue.front()))) queue.pop_front();
  }
}

void RoutingPool::release_all() {
  for (const units::ModelId model : config_.models) release(model);
}

// Nobody waits for an engine that is gone.
void RoutingPool::end_hopeless() {
  std::vector<units::RequestId> all;
  for (const auto& lane : waiting_) all.insert(all.end(), lane.second.begin(), lane.second.end());
  for (const units::RequestId id : all) {
    if (const auto refusal = cannot_run(live_.at(id).request)) finish(id, *refusal, {});
  }
}

void RoutingPool::on(const domain::CallerLeft& event) {
  const auto found = live_.find(event.request);
  if (found == live_.end()) {
    counters_.dropped_events += 1;
    return;
  }
  const domain::Usage used = usage(found->second);
  if (found->second.engine) abort(found->second);
  finish(event.request, {Outcome::kCancelled, Reason::kCallerLeft}, used);
  release_all();
}

// --- engines ---

void RoutingPool::on(const domain::EngineJoined& event) {
  const auto known = std::find_if(engines_.begin(), engines_.end(), [&](const auto& engine) {
    return engine.spec().id == event.spec.id;
  });
  const bool fresh = known == engines_.end();
  const bool stale =
      !fresh && (event.spec.epoch < known->spec().epoch || event.spec.model != known->spec().model);
  const bool full =
      fresh && static_cast<std::int64_t>(engines_.size()) >= config_.limits.max_engines;
  if (stale || full || event.spec.kv.block_tokens <= Tokens(0)) {
    counters_.dropped_events += 1;
    return;
  }
  if (fresh) {
    engines_.emplace_back(event.spec, config_.policy);
    reports_.emplace_back();
    loads_.push_back({.index = loads_.size()});
  } else {
    const auto index = static_cast<EngineIndex>(known - engines_.begin());
    if (event.spec.epoch != known->spec().epoch) lose_all(index);
    engines_[index].join(event.spec);
    reports_[index] = {};
  }
  release(event.spec.model);
}

void RoutingPool::on(const domain::EngineDraining& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index || !engines_[*index].ready()) {
    counters_.dropped_events += 1;
    return;
  }
  engines_[*index].set_state(pool::EngineState::kDraining);
  end_hopeless();
}

void RoutingPool::on(const domain::EngineLost& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index || engines_[*index].state() == pool::EngineState::kLost) {
    counters_.dropped_events += 1;
    return;
  }
  lose_all(*index);
  end_hopeless();
}

void RoutingPool::lose_all(EngineIndex engine) {
  engines_[engine].set_state(pool::EngineState::kLost);
  router_->lost(engine);
  std::vector<units::RequestId> lost;
  for (const auto& [id, live] : live_) {
    if (live.engine == engine) lost.push_back(id);
  }
  for (const units::RequestId id : lost) try_failed(live_.at(id), Reason::kEngineLost);
  engines_[engine].clear();
}

void RoutingPool::on(const domain::Accepted& event) {
  if (Live* live = running(event.ref)) engines_[*live->engine].accept(live->pledge);
}

void RoutingPool::on(const domain::TokensProduced& event) {
  Live* live = running(event.ref);
  if (live == nullptr) return;
  const Tokens room = live->request.footprint.max_output - live->produced;
  if (event.count <= Tokens(0) || event.count > room) {
    counters_.protocol_errors += 1;
    const domain::Usage used = usage(*live);
    abort(*live);
    finish(event.ref.request, {Outcome::kEngineFailed, Reason::kEngineError}, used);
    return release_all();
  }
  live->produced += event.count;
  loads_[*live->engine].tokens += event.count;
  engines_[*live->engine].produce(live->pledge, event.count, now_);
}

void RoutingPool::on(const domain::Finished& event) {
  if (release_ghost(event.ref)) return;
  Live* live = running(event.ref);
  if (live == nullptr) return;
  const domain::Footprint& footprint = live->request.footprint;
  const domain::Usage used{
      .prompt = footprint.prompt,
      .cached_prompt = std::clamp(event.usage.cached_prompt, Tokens(0), footprint.prompt),
      .output = std::clamp(event.usage.output, Tokens(0), footprint.max_output)};
  engines_[*live->engine].release(live->pledge);
  leave_engine(*live);
  finish(event.ref.request, {.outcome = event.outcome}, used);
  release_all();
}

void RoutingPool::on(const domain::Failed& event) {
  if (release_ghost(event.ref)) return;
  Live* live = running(event.ref);
  if (live == nullptr) return;
  try_failed(*live, event.reason);
  release_all();
}

void RoutingPool::on(const domain::StateReport& event) {
  const auto index = engine_of(event.engine, event.epoch);
  if (!index) {
    counters_.dropped_events += 1;
    return;
  }
  engines_[*index].report(event);
  reports_[*index] = event;
  release(engines_[*index].spec().model);
}

void RoutingPool::on(const domain::Tick&) {}

void RoutingPool::on(const domain::DrainRequested& event) {
  draining_ = true;
  if (!event.abandon) return;
  std::vector<units::RequestId> all;
  for (const auto& entry : live_) all.push_back(entry.first);
  for (const units::RequestId id : all) {
    Live& live = live_.at(id);
    const domain::Usage used = usage(live);
    if (live.engine) abort(live);
    finish(id, {Outcome::kShutdown, Reason::kDraining}, used);
  }
}

// --- tries and ends ---

RoutingPool::Live* RoutingPool::running(const domain::AttemptRef& ref) {
  const auto found = live_.find(ref.request);
  const bool live = found != live_.end() && found->second.engine && found->second.ref == ref;
  if (live) return &found->second;
  counters_.dropped_events += 1;
  return nullptr;
}

bool RoutingPool::release_ghost(const domain::AttemptRef& ref) {
  const auto found = live_.find(ref.request);
  if (found != live_.end() && found->second.ref == ref) return false;
  const auto index = engine_of(ref.engine, ref.epoch);
  if (!index) return false;
  const auto pledge = engines_[*index].find(ref);
  if (!pledge || !engines_[*index].pledge(*pledge).ghost()) return false;
  engines_[*index].release(*pledge);
  return true;
}

void RoutingPool::leave_engine(Live& live) {
  const EngineIndex engine = *live.engine;
  loads_[engine].in_flight -= 1;
  loads_[engine].tokens -= live.request.footprint.prompt + live.produced;
  loads_[engine].promised -= live.expected;
  accounts_[live.tenant].stopped();
  router_->ended(live.request, engine);
  live.engine.reset();
}

void RoutingPool::abort(Live& live) {
  decisions_.emplace_back(domain::Abort{live.ref});
  engines_[*live.engine].disown(live.pledge);
  leave_engine(live);
}

void RoutingPool::try_failed(Live& live, Reason reason) {
  const units::RequestId id = live.request.id;
  const EngineIndex failed = *live.engine;
  const domain::Usage used = usage(live);
  engines_[failed].release(live.pledge);
  leave_engine(live);
  if (reason == Reason::kQueueFull) {
    return finish(id, {Outcome::kRejectedCapacity, reason, Resource::kQueue}, {});
  }
  const bool again = used.output == Tokens(0) && !live.avoid;
  live.avoid = failed;
  if (!again) return finish(id, {Outcome::kEngineFailed, reason}, used);
  counters_.retries += 1;
  if (dispatch(live)) return;
  finish(id, {Outcome::kEngineFailed, reason}, used);
}

domain::Usage RoutingPool::usage(const Live& live) const {
  if (!live.engine) return {};
  return {.prompt = live.request.footprint.prompt, .output = live.produced};
}

void RoutingPool::finish(units::RequestId id, const Refusal& end, const domain::Usage& usage) {
  const auto found = live_.find(id);
  TIDEGATE_CHECK(found != live_.end() && !found->second.engine);
  if (!found->second.admitted) std::erase(queue_of(found->second.request), id);
  const bool refused =
      end.outcome == Outcome::kRejectedCapacity || end.outcome == Outcome::kRejectedInvalid;
  accounts_[found->second.tenant].settle(found->second.reservation, refused ? 0 : 1,
                                         refused ? Tokens(0) : usage.prompt + usage.output, now_);
  counters_.ended += 1;
  decisions_.emplace_back(domain::End{id, end.outcome, end.reason, end.full});
  live_.erase(found);
}

// --- looking things up ---

std::optional<std::size_t> RoutingPool::tenant_index(units::TenantId id) const {
  const auto found = std::find_if(config_.tenants.begin(), config_.tenants.end(),
                                  [&](const domain::Tenant& tenant) { return tenant.id == id; });
  if (found == config_.tenants.end()) return std::nullopt;
  return static_cast<std::size_t>(found - config_.tenants.begin());
}

std::optional<EngineIndex> RoutingPool::engine_of(units::EngineId id, units::Epoch epoch) const {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (engines_[i].spec().id == id && engines_[i].spec().epoch == epoch) return i;
  }
  return std::nullopt;
}

std::optional<pool::TenantHolds> RoutingPool::holds(units::TenantId tenant) const {
  const auto index = tenant_index(tenant);
  if (!index) return std::nullopt;
  return accounts_[*index].holds(now_);
}

std::int64_t RoutingPool::waiting() const {
  std::int64_t count = 0;
  for (const auto& entry : waiting_) count += static_cast<std::int64_t>(entry.second.size());
  return count;
}

std::vector<pool::LiveView> RoutingPool::live_requests() const {
  std::vector<pool::LiveView> views;
  views.reserve(live_.size());
  for (const auto& [id, live] : live_) views.push_back({id, live.engine.has_value(), live.ref});
  return views;
}

}  // namespace tidegate::baselines
