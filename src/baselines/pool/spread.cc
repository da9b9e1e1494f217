#include "baselines/pool/spread.h"

#include <algorithm>

namespace tidegate::baselines {

std::optional<EngineIndex> RoundRobin::route(const domain::Request& request,
                                             std::span<const Target> targets) {
  const auto last = last_.find(request.model);
  auto next = targets.begin();
  if (last != last_.end()) {
    next = std::find_if(targets.begin(), targets.end(),
                        [&](const Target& target) { return target.index > last->second; });
    if (next == targets.end()) next = targets.begin();
  }
  last_[request.model] = next->index;
  return next->index;
}

std::optional<EngineIndex> LeastRequests::route(const domain::Request& request,
                                                std::span<const Target> targets) {
  std::int64_t least = targets.front().in_flight;
  for (const Target& target : targets) least = std::min(least, target.in_flight);
  std::vector<Target> equals;
  for (const Target& target : targets) {
    if (target.in_flight == least) equals.push_back(target);
  }
  return turn_.route(request, equals);
}

std::optional<EngineIndex> Random::route(const domain::Request& /*request*/,
                                         std::span<const Target> targets) {
  return targets[prng_.below(targets.size())].index;
}

std::optional<EngineIndex> PowerOfTwo::route(const domain::Request& /*request*/,
                                             std::span<const Target> targets) {
  const std::size_t first = prng_.below(targets.size());
  if (targets.size() == 1) return targets[first].index;
  const std::size_t second = (first + 1 + prng_.below(targets.size() - 1)) % targets.size();
  const bool keep = targets[first].in_flight <= targets[second].in_flight;
  return targets[keep ? first : second].index;
}

std::optional<EngineIndex> LeastKv::route(const domain::Request& request,
                                          std::span<const Target> targets) {
  const auto less = [](const Target& a, const Target& b) {
    return units::Int128{a.tokens.value()} * b.spec->limits.kv_blocks.value() *
               b.spec->kv.block_tokens.value() <
           units::Int128{b.tokens.value()} * a.spec->limits.kv_blocks.value() *
               a.spec->kv.block_tokens.value();
  };
  const Target least = *std::min_element(targets.begin(), targets.end(), less);
  std::vector<Target> equals;
  for (const Target& target : targets) {
    if (!less(least, target)) equals.push_back(target);
  }
  return turn_.route(request, equals);
}

}  // namespace tidegate::baselines
