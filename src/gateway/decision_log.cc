#include "gateway/decision_log.h"

#include <optional>
#include <type_traits>
#include <variant>

namespace tidegate::gateway {

std::optional<units::RequestId> subject(const domain::Decision& decision) {
  return std::visit(
      [](const auto& each) -> std::optional<units::RequestId> {
        using Kind = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Kind, domain::WakeAt>) {
          return std::nullopt;
        } else if constexpr (std::is_same_v<Kind, domain::Assign> ||
                             std::is_same_v<Kind, domain::Abort>) {
          return each.ref.request;
        } else {
          return each.request;
        }
      },
      decision);
}

void DecisionLog::arrived(const domain::Request& request) {
  if (order_.size() == kMaxRequests) {
    histories_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(request.id);
  histories_[request.id].request = request;
}

void DecisionLog::decided(const domain::Decision& decision, units::Instant at) {
  const auto id = subject(decision);
  const auto found = id ? histories_.find(*id) : histories_.end();
  if (found == histories_.end()) return;
  auto& entries = found->second.entries;
  if (entries.size() == kMaxEntries) entries.pop_back();
  entries.push_back({at, decision});
}

const DecisionHistory* DecisionLog::find(units::RequestId id) const {
  const auto found = histories_.find(id);
  return found == histories_.end() ? nullptr : &found->second;
}

}  // namespace tidegate::gateway
