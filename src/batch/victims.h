// Who is preempted when memory or slots run out (scheduling, 8): strictly by tier, lowest first;
// within a tier those who were preempted too often or just now are spared while there are others;
// then work without a promise, then missed and hopeless work, then prompts that have not
// given a token, and protected streams last, those whose recomputation would break their promise
// after the others; among equals the most KV freed per time of recomputing it; then the youngest.
// One owner; no allocation after construction.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/core.h"
#include "batch/reservation.h"

namespace tidegate::batch {

// Lower goes first.
struct VictimRank {
  int tier_from_below = 0;
  bool spared = false;
  int kind = 0;
  std::int64_t minus_gain = 0;  // KV blocks freed per second of recomputing, negative
  std::int64_t minus_order = 0;

  friend auto operator<=>(const VictimRank&, const VictimRank&) = default;
};

class Victims {
 public:
  explicit Victims(Core& core);

  VictimRank rank(Index index, units::Instant now) const;

  // The one to preempt when the running ones no longer fit, whoever grows. The most valuable one is
  // never it, so that something finishes. kNone when fewer than two run. O(running).
  Index worst(units::Instant now) const;

  // Just enough running sequences of a strictly lower tier than the waiting `head`, so that it can
  // start with `hit`; empty when they would not suffice. Valid until the next call.
  // O(victims x n log n).
  std::span<const Index> make_way(Index head, const KvBlocks::Hit& hit, Reservation& reservation,
                                  units::Instant now);

 private:
  bool spared(const Sequence& sequence) const;
  void drop_unneeded(Index head, const KvBlocks::Hit& hit, Reservation& reservation);
  bool enough(Index head, const KvBlocks::Hit& hit, Reservation& reservation) const;

  struct Ranked {
    VictimRank rank;
    Index index = 0;
  };

  Core& core_;
  std::vector<Ranked> ranked_;
  std::vector<Index> chosen_;
};

}  // namespace tidegate::batch
