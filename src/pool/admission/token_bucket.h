// A limit of so many units per period, in exact integers: the level is kept in units x period, so
// refilling loses nothing to rounding. A full period may be spent at once; what is reserved can be
// given back, and what was used beyond the reservation becomes debt. One owner.
#pragma once

#include <cstdint>

#include "units/integer.h"
#include "units/quantity.h"

namespace tidegate::pool {

class TokenBucket {
 public:
  // `rate` units come back in each `period`, up to `capacity`. Starts full.
  // REQUIRES: rate > 0, capacity > 0, period > 0.
  TokenBucket(std::int64_t rate, units::Nanos period, std::int64_t capacity);

  // Takes `amount` (cut to the capacity) if it is there; false leaves the bucket as it was.
  // `taken` is what settle() is to be told later.
  bool take(std::int64_t amount, units::Instant now, std::int64_t& taken);
  // A reservation of `taken` used `used` in the end: the difference is given back or owed.
  void settle(std::int64_t taken, std::int64_t used, units::Instant now);
  // Another rate and capacity from now on. What share of the capacity is left stays the same, so
  // that neither a raise nor a cut is a gift or a debt. REQUIRES: both > 0.
  void change(std::int64_t rate, std::int64_t capacity, units::Instant now);
  // How long until take(amount) would succeed if nobody else took; 0 when it would now.
  units::Nanos wait_for(std::int64_t amount, units::Instant now) const;
  // Whole units that can be taken now; negative when in debt.
  std::int64_t available(units::Instant now) const;
  std::int64_t capacity() const { return capacity_; }

 private:
  units::Int128 level_at(units::Instant now) const;
  units::Int128 scaled(std::int64_t amount) const;

  std::int64_t rate_;
  std::int64_t period_ns_;
  std::int64_t capacity_;
  units::Int128 level_;  // units x period
  units::Instant as_of_;
};

}  // namespace tidegate::pool
