#include "pool/queueing/fair_shares.h"

#include <algorithm>
#include <utility>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

FairShares::FairShares(std::vector<std::int64_t> weight_of_lane, std::size_t groups,
                       units::Nanos slack)
    : weight_(std::move(weight_of_lane)),
      served_(weight_.size(), 0),
      floor_(groups, 0),
      slack_((slack * kScale).value()) {
  for (const std::int64_t weight : weight_) TIDEGATE_CHECK(weight > 0);
}

void FairShares::charge(LaneIndex lane, units::Nanos cost) {
  const std::int64_t share = units::multiply_divide(cost.value(), kScale, weight_[lane]);
  served_[lane] = units::add_saturating(served_[lane], share);
}

units::Nanos FairShares::allowance(LaneIndex other, LaneIndex lane) const {
  const std::int64_t left = units::add_saturating(served_[lane] - served_[other], slack_);
  return units::Nanos(
      units::multiply_divide(std::max<std::int64_t>(0, left), weight_[other], kScale));
}

void FairShares::wake(LaneIndex lane, std::size_t group, std::span<const LaneIndex> backlogged) {
  if (backlogged.empty()) {
    served_[lane] = std::max(served_[lane], floor_[group]);
    return;
  }
  std::int64_t least = served_[backlogged.front()];
  for (const LaneIndex other : backlogged) least = std::min(least, served_[other]);
  served_[lane] = std::max(served_[lane], least);
}

void FairShares::go_idle(LaneIndex lane, std::size_t group) {
  floor_[group] = std::max(floor_[group], served_[lane]);
}

}  // namespace tidegate::pool
