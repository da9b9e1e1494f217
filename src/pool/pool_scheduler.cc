#include "pool/pool_scheduler.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using units::Instant;
using units::Nanos;

namespace {

// What cannot be predicted is not "never".
constexpr Nanos kLongestHint = units::seconds(3'600);

std::vector<std::int64_t> weights_of(const PoolConfig& config) {
  std::vector<std::int64_t> weights;
  weights.reserve(config.tenants.size());
  for (const domain::Tenant& tenant : config.tenants) weights.push_back(tenant.weight);
  return weights;
}

std::size_t slots_of(const PoolConfig& config) {
  TIDEGATE_CHECK(config.limits.max_requests > 0 && config.limits.max_queued >= 0);
  return static_cast<std::size_t>(config.limits.max_requests);
}

}  // namespace

PoolScheduler::PoolScheduler(PoolConfig config)
    : config_(std::move(config)),
      prng_(config_.seed),
      table_(slots_of(config_)),
      room_(config_.models.size(), weights_of(config_), slots_of(config_),
            config_.policy.share_slack),
      timers_(slots_of(config_)) {
  const auto engines =
      static_cast<std::size_t>(std::max<std::int64_t>(1, config_.limits.max_engines));
  engines_.reserve(engines);
  models_.reserve(config_.models.size());  // made in place: a copy would not keep what is reserved
  for (std::size_t i = 0; i < config_.models.size(); ++i) {
    models_.emplace_back(weights_of(config_), config_.policy.queue_target).engines.reserve(engines);
  }
  accounts_.reserve(config_.tenants.size());
  for (const domain::Tenant& tenant : config_.tenants) {
    accounts_.emplace_back(tenant, config_.policy.retry_budget);
  }
  decisions_.reserve(slots_of(config_) + 64);
  skipped_.reserve(static_cast<std::size_t>(config_.policy.scan_depth) + 2);
  unblocked_.reserve(2 * config_.tenants.size());
}

std::span<const domain::Decision> PoolScheduler::step(const domain::Event& event, Instant now) {
  TIDEGATE_CHECK(now >= now_);
  now_ = now;
  decisions_.clear();
  if (last_wake_ <= now_) last_wake_ = Instant::never();  // that one is used up
  fire_timers();
  std::visit([this](const auto& e) { on(e); }, event);
  serve_unblocked();
  forget_paces();
  serve_held_up();
  const Instant wake = next_wake();
  if (wake != last_wake_ && wake != Instant::never()) {
    decisions_.emplace_back(domain::WakeAt{wake});
    last_wake_ = wake;
  }
  return decisions_;
}

Instant PoolScheduler::next_wake() const {
  Instant wake = timers_.earliest_at();
  for (std::size_t i = 0; i < models_.size(); ++i) {
    const bool waits = models_[i].pace_kept && room_.waiting(i) > 0;
    if (waits) wake = std::min(wake, models_[i].expected_pace.lapses_at());
  }
  return wake;
}

// Time alone has passed; step() has already served the timers. The shell may have lost its alarm.
void PoolScheduler::on(const domain::Tick&) {
  last_wake_ = Instant::never();
}

void PoolScheduler::on(const domain::DrainRequested& event) {
  draining_ = true;
  if (!event.abandon) return;
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    const auto slot = static_cast<SlotIndex>(i);
    if (table_[slot].phase == Phase::kFree) continue;
    const domain::Usage usage = usage_so_far(table_[slot]);
    if (table_[slot].phase == Phase::kOnEngine) abort(slot);
    finish(slot, {.outcome = domain::Outcome::kShutdown, .reason = domain::Reason::kDraining},
           usage);
  }
}

std::optional<std::size_t> PoolScheduler::model_index(units::ModelId id) const {
  const auto found = std::find(config_.models.begin(), config_.models.end(), id);
  if (found == config_.models.end()) return std::nullopt;
  return static_cast<std::size_t>(found - config_.models.begin());
}

std::optional<std::size_t> PoolScheduler::tenant_index(units::TenantId id) const {
  const auto same = [&](const domain::Tenant& tenant) { return tenant.id == id; };
  // Usually the id is the index.
  if (id.value() < config_.tenants.size() && same(config_.tenants[id.value()])) return id.value();
  const auto found = std::find_if(config_.tenants.begin(), config_.tenants.end(), same);
  if (found == config_.tenants.end()) return std::nullopt;
  return static_cast<std::size_t>(found - config_.tenants.begin());
}

std::optional<TenantHolds> PoolScheduler::holds(units::TenantId tenant) const {
  const auto index = tenant_index(tenant);
  if (!index) return std::nullopt;
  return accounts_[*index].holds(now_);
}

std::vector<LiveView> PoolScheduler::live_requests() const {
  std::vector<LiveView> live;
  live.reserve(table_.size());
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    const Entry& entry = table_[static_cast<SlotIndex>(i)];
    if (entry.phase == Phase::kFree) continue;
    live.push_back({entry.request.id, entry.phase == Phase::kOnEngine, entry.ref});
  }
  return live;
}

std::optional<Nanos> PoolScheduler::service_gap() const {
  Nanos widest(0);
  for (std::size_t model = 0; model < models_.size(); ++model) {
    const auto lanes = room_.active(model, Band::kShare);
    if (lanes.size() < 2) continue;
    const auto served = [&](LaneIndex lane) { return room_.shares().served(lane); };
    const auto [least, most] = std::ranges::minmax(lanes, {}, served);
    widest = std::max(widest, Nanos(served(most) - served(least)));
  }
  return widest / FairShares::kScale;
}

Verdict PoolScheduler::verdict(SlotIndex slot, EngineIndex engine) const {
  TIDEGATE_CHECK(table_[slot].phase == Phase::kWaiting);
  return feasible(ask_for(slot), engines_[engine], config_.policy, now_);
}

// Within 10 % either way, so that those refused together do not come back together.
Nanos PoolScheduler::jittered(Nanos span) {
  if (span <= Nanos(0)) return Nanos(0);
  span = std::min(span, kLongestHint);
  const Nanos tenth = span / 10;
  const Nanos spread(prng_.between(-tenth.value(), tenth.value()));
  return std::max(units::milliseconds(1), span + spread);
}

}  // namespace tidegate::pool
