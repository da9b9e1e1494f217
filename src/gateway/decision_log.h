// What was decided about the last few thousand requests, in order and with times: the answer to
// "why" while the gateway runs. Bounded; one owner, the decision thread.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/decision.h"
#include "domain/request.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::gateway {

struct DecisionEntry {
  units::Instant at;
  domain::Decision decision;
};

struct DecisionHistory {
  domain::Request request;
  std::vector<DecisionEntry> entries;  // at most kMaxEntries: the first ones and the last
};

class DecisionLog {
 public:
  static constexpr std::size_t kMaxRequests = 4'096;
  static constexpr std::size_t kMaxEntries = 64;

  void arrived(const domain::Request& request);
  // Wake-ups belong to no request and are not kept.
  void decided(const domain::Decision& decision, units::Instant at);
  // Null when it was never here or is forgotten.
  const DecisionHistory* find(units::RequestId id) const;

 private:
  std::map<units::RequestId, DecisionHistory> histories_;
  std::deque<units::RequestId> order_;
};

// The request that a decision is about; nullopt for WakeAt.
std::optional<units::RequestId> subject(const domain::Decision& decision);

}  // namespace tidegate::gateway
