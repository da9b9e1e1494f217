// A new configuration for a pool that is full of work.
#include <algorithm>

#include "pool/pool_scheduler.h"

namespace tidegate::pool {
namespace {

bool keeps_tenants(const PoolConfig& from, const PoolConfig& to) {
  if (to.tenants.size() < from.tenants.size()) return false;
  const auto same = [](const domain::Tenant& a, const domain::Tenant& b) { return a.id == b.id; };
  return std::equal(from.tenants.begin(), from.tenants.end(), to.tenants.begin(), same);
}

bool positive_weights(const PoolConfig& config) {
  return std::all_of(config.tenants.begin(), config.tenants.end(),
                     [](const domain::Tenant& tenant) { return tenant.weight > 0; });
}

}  // namespace

bool can_follow(const PoolConfig& current, const PoolConfig& next) {
  return next.models == current.models && next.limits == current.limits &&
         keeps_tenants(current, next) && positive_weights(next);
}

bool PoolScheduler::reconfigure(const PoolConfig& config) {
  if (!can_follow(config_, config)) return false;
  config_.classes = config.classes;
  config_.tenants = config.tenants;
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < config_.tenants.size(); ++i) {
    const domain::Tenant& tenant = config_.tenants[i];
    weights.push_back(tenant.weight);
    if (i < accounts_.size()) {
      accounts_[i].change(tenant, now_);
    } else {
      accounts_.emplace_back(tenant, config_.policy.retry_budget);
    }
  }
  room_.change_weights(weights);
  for (Model& model : models_) model.price.change_weights(weights);
  for (std::size_t i = 0; i < table_.capacity(); ++i) {
    Entry& entry = table_[static_cast<SlotIndex>(i)];
    if (entry.phase == Phase::kFree) continue;
    entry.lane = room_.lane_of(entry.model, entry.tenant, entry.band);
  }
  unblocked_.reserve(2 * config_.tenants.size());
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    if (accounts_[i].at_in_flight_limit()) {
      room_.set_blocked(i, true);
    } else {
      unblock(i);
    }
  }
  return true;
}

}  // namespace tidegate::pool
