#include "baselines/pool/gated.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cost/length_forecast.h"

namespace tidegate::baselines {

using units::Tokens;

bool Slots::has_slot(const domain::Request& request, const Target& target) const {
  const std::int64_t slots = target.spec->limits.max_sequences;
  const std::int64_t reserved = slots / 2 / classes_;
  std::int64_t own = 0;
  std::int64_t borrowed = 0;
  const auto found = in_flight_.find(target.index);
  if (found != in_flight_.end()) {
    for (const auto& [service_class, count] : found->second) {
      if (service_class == request.service_class) own = count;
      borrowed += std::max<std::int64_t>(0, count - reserved);
    }
  }
  return own < reserved || borrowed < slots - reserved * classes_;
}

std::optional<EngineIndex> Slots::route(const domain::Request& request,
                                        std::span<const Target> targets) {
  std::vector<Target> open;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(open),
               [&](const Target& target) { return has_slot(request, target); });
  if (open.empty()) return std::nullopt;
  return least_.route(request, open);
}

void Slots::sent(const domain::Request& request, EngineIndex engine) {
  in_flight_[engine][request.service_class] += 1;
}

void Slots::ended(const domain::Request& request, EngineIndex engine) {
  in_flight_[engine][request.service_class] -= 1;
}

void Slots::reconfigured(const pool::PoolConfig& config) {
  classes_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(config.classes.size()));
}

std::optional<EngineIndex> PoolTokens::route(const domain::Request& request,
                                             std::span<const Target> targets) {
  Tokens capacity;
  Tokens promised = request.footprint.prompt + cost::remaining(request.footprint, Tokens(0)).mean;
  std::int64_t in_flight = 0;
  for (const Target& target : targets) {
    capacity += target.spec->kv.block_tokens * target.spec->limits.kv_blocks.value();
    promised += target.promised;
    in_flight += target.in_flight;
  }
  if (promised > capacity && in_flight > 0) return std::nullopt;
  return least_.route(request, targets);
}

}  // namespace tidegate::baselines
