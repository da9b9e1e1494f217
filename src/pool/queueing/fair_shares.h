// How much service each lane (a tenant's requests of one band for one model) has had, in engine
// time divided by the tenant's weight. The least served backlogged lane and those close to it are
// within their share; the others are above it and are served from what is left.
//
// Source: virtual token counters with lift on wake-up (VTC, Sheng et al., OSDI 2024), charged in
// predicted engine time at dispatch and corrected by the real usage at the end. A lane that was
// idle starts level with the least served backlogged one: idling earns no credit.
// One owner; integers only; no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "units/quantity.h"

namespace tidegate::pool {

using LaneIndex = std::uint32_t;

class FairShares {
 public:
  // Service is kept in nanoseconds x kScale / weight, so that weights up to kScale keep precision.
  static constexpr std::int64_t kScale = 1'024;

  FairShares(std::vector<std::int64_t> weight_of_lane, std::size_t groups, units::Nanos slack);

  std::int64_t served(LaneIndex lane) const { return served_[lane]; }
  // What each lane was served, and where each group's floor is, as in `other`: lane i here was lane
  // lane_there(i) there, or is new. REQUIRES: as many groups.
  template <class LaneThere>
  void carry_over(const FairShares& other, const LaneThere& lane_there) {
    floor_ = other.floor_;
    for (std::size_t i = 0; i < served_.size(); ++i) {
      const auto there = lane_there(static_cast<LaneIndex>(i));
      if (there) served_[i] = other.served_[*there];
    }
  }
  // `cost` is negative when less was used than was charged before.
  void charge(LaneIndex lane, units::Nanos cost);
  // The lane has work again; `backlogged` are the other lanes of its group that have. O(lanes).
  void wake(LaneIndex lane, std::size_t group, std::span<const LaneIndex> backlogged);
  // The lane's last waiting request left.
  void go_idle(LaneIndex lane, std::size_t group);
  // The engine time that `other` may still get before it is above the share of `lane`.
  units::Nanos allowance(LaneIndex other, LaneIndex lane) const;
  // Is a lane that was served so much within its share, when the least served has `least`?
  bool within(std::int64_t served, std::int64_t least) const { return served - least <= slack_; }

 private:
  std::vector<std::int64_t> weight_;
  std::vector<std::int64_t> served_;
  std::vector<std::int64_t> floor_;  // by group: where the last one to fall asleep stood
  std::int64_t slack_;
};

}  // namespace tidegate::pool
