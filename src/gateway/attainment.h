// Promises kept, by class and tenant. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "units/ids.h"

namespace tidegate::gateway {

class Attainment {
 public:
  struct Count {
    std::int64_t kept = 0;
    std::int64_t judged = 0;
  };

  Attainment(std::size_t classes, std::size_t tenants)
      : tenants_(tenants), counts_(classes * tenants) {}

  // Judges one more request and returns the counts of its class and tenant.
  Count judge(units::ClassId service_class, units::TenantId tenant, bool kept) {
    Count& count = counts_[service_class.value() * tenants_ + tenant.value()];
    count.kept += kept ? 1 : 0;
    ++count.judged;
    return count;
  }

 private:
  std::size_t tenants_;
  std::vector<Count> counts_;
};

}  // namespace tidegate::gateway
