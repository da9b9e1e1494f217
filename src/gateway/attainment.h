// Promises kept, by class and tenant. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "units/ids.h"

namespace tidegate::gateway {

class Attainment {
 public:
  struct Count {
    std::int64_t kept = 0;
    std::int64_t judged = 0;
  };

  // Judges one more request and returns the counts of its class and tenant.
  Count judge(units::ClassId service_class, units::TenantId tenant, bool kept) {
    Count& count = counts_[{service_class, tenant}];
    count.kept += kept ? 1 : 0;
    ++count.judged;
    return count;
  }

 private:
  std::map<std::pair<units::ClassId, units::TenantId>, Count> counts_;
};

}  // namespace tidegate::gateway
