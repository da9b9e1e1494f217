// The tightest pace of tokens that requests for a model asked for lately, refused ones included,
// and so the one that the next will want: until ten seconds after it was last asked for, and then
// the next that anybody asks for. An engine whose streams are content with less can be filled until
// its steps are too long for it; then whoever needs it waits until enough of them have ended, while
// more of them come. One owner, O(1).
#pragma once

#include "units/quantity.h"

namespace tidegate::pool {

class ExpectedPace {
 public:
  // A request arrived that asks for this pace. REQUIRES: now never goes back; pace > 0.
  void see(units::Nanos pace, units::Instant now) {
    if (pace > at(now)) return;
    tightest_ = pace;
    seen_ = now;
  }
  // max() when nobody has asked for any for kMemory.
  units::Nanos at(units::Instant now) const {
    return now >= lapses_at() ? units::Nanos::max() : tightest_;
  }
  // From then on at() is max(), unless the pace is seen again.
  units::Instant lapses_at() const { return seen_ + kMemory + units::Nanos(1); }

 private:
  // As long as demand counts for the shadow price.
  static constexpr units::Nanos kMemory = units::seconds(10);

  units::Nanos tightest_ = units::Nanos::max();
  units::Instant seen_;
};

}  // namespace tidegate::pool
