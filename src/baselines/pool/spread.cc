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

}  // namespace tidegate::baselines
