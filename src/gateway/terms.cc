#include "gateway/terms.h"

#include <algorithm>
#include <cstdlib>

namespace tidegate::gateway {
namespace {

using Time = std::optional<units::Nanos>;

// The class's time moved towards the hint: looser freely, tighter down to the floor.
Time moved(Time own, Time hint, Time floor) {
  if (!hint) return own;
  if (own && *hint >= *own) return hint;
  if (!floor) return own;
  const units::Nanos wanted = std::max(*hint, *floor);
  return own ? std::min(wanted, *own) : wanted;
}

// The exact hint, else what the priority makes of the class's own time.
Time wished(Time hint, Time own, std::int32_t priority) {
  if (hint || !own || priority == 0) return hint;
  const std::int32_t steps = std::clamp(priority, -kPrioritySteps, kPrioritySteps);
  const std::int64_t factor = std::int64_t{1} << std::abs(steps);
  return steps > 0 ? *own * factor : *own / factor;
}

const domain::ServiceClass* find_class(const std::string& name,
                                       const std::vector<domain::ServiceClass>& classes) {
  const auto found =
      std::find_if(classes.begin(), classes.end(),
                   [&name](const domain::ServiceClass& each) { return each.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

}  // namespace

domain::Promise Terms::promise(units::Instant arrival) const {
  domain::Promise promise;
  if (ttft) promise.first_token_due = arrival + *ttft;
  if (ttft && tpot) promise.token_pace = *tpot;
  if (deadline) promise.total_due = arrival + *deadline;
  return promise;
}

units::Result<Terms> agree(const Wishes& wishes, const config::TenantConfig& tenant,
                           const std::vector<domain::ServiceClass>& classes) {
  const openai::Hints& hints = wishes.hints;
  const domain::ServiceClass* chosen = &classes[tenant.values.default_class.value()];
  if (!hints.service_class.empty()) {
    chosen = find_class(hints.service_class, classes);
  } else if (const auto* objective = find_class(hints.objective, classes)) {
    chosen = objective;
  }
  const auto& allowed = tenant.classes;
  if (!chosen || std::find(allowed.begin(), allowed.end(), chosen->id) == allowed.end()) {
    return units::error("x-tidegate-class",
                        "this class does not exist or is not yours; leave the header out to get "
                        "your own");
  }
  const Time ttft = wished(hints.ttft, chosen->ttft, wishes.priority);
  const Time deadline =
      wished(hints.deadline, chosen->ttft ? Time() : chosen->deadline, wishes.priority);
  return Terms{chosen->id, moved(chosen->ttft, ttft, tenant.tightest.ttft),
               moved(chosen->tpot, hints.tpot, tenant.tightest.tpot),
               moved(chosen->deadline, deadline, tenant.tightest.deadline)};
}

}  // namespace tidegate::gateway
