// Everything that waits outside the engines: per model, per tenant and per band a queue in deadline
// order (a lane), and the order in which the lanes' heads are released.
//
// Tiers are strict: guaranteed, within share, above share, best effort. Within a tier the order is
// OrderKey; best effort has no deadlines, so there the least served tenant goes first. Which of the
// two share tiers a lane is in follows from FairShares at the moment of asking.
// One owner; no allocation after construction. Costs are O(log waiting) per request plus O(lanes
// of the model that have work) per question of order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/outcome.h"
#include "pool/queueing/fair_shares.h"
#include "pool/queueing/order.h"
#include "pool/queueing/ordered_queue.h"

namespace tidegate::pool {

enum class Band : std::uint8_t { kGuaranteed, kShare, kBestEffort };
inline constexpr std::size_t kBandCount = 3;

class WaitingRoom {
 public:
  // `weights` by tenant. REQUIRES: every weight > 0.
  WaitingRoom(std::size_t models, const std::vector<std::int64_t>& weights, std::size_t slots,
              units::Nanos share_slack);

  // Other weights, and perhaps more tenants, from now on; who waits keeps its place. Lanes get
  // other indices: ask lane_of() again. REQUIRES: not fewer tenants than before. O(lanes).
  void change_weights(const std::vector<std::int64_t>& weights);

  LaneIndex lane_of(std::size_t model, std::size_t tenant, Band band) const;
  // REQUIRES: slot waits nowhere.
  void enter(SlotIndex slot, LaneIndex index, const OrderKey& key, const Work& work);
  // REQUIRES: slot waits in lane `index`.
  void leave(SlotIndex slot, LaneIndex index);
  // A blocked tenant's requests keep their places but are not released.
  void set_blocked(std::size_t tenant, bool blocked);
  // Service of a lane, see FairShares::charge().
  void charge(LaneIndex index, units::Nanos cost);

  bool blocked(std::size_t tenant) const { return blocked_[tenant] != 0; }

  std::int64_t waiting() const { return waiting_; }
  std::int64_t waiting(std::size_t model) const { return by_model_[model].waiting; }
  std::int64_t waiting_of_tenant(std::size_t tenant) const { return of_tenant_[tenant]; }
  std::int64_t waiting_in(LaneIndex lane) const;
  // Lanes of a model with work, per band, in no particular order.
  std::span<const LaneIndex> active(std::size_t model, Band band) const;
  const OrderKey& key(SlotIndex slot) const { return nodes_[slot].key; }

  domain::Tier tier(LaneIndex index) const;
  // What would be released before one with `key` in lane `index`. Of another tenant in the
  // same share tier only as much counts as leaves that tenant within its share of the two.
  Work ahead_of(const OrderKey& key, LaneIndex index) const;
  // The best-effort request that would be released last of all, of the model or, when that has
  // none, of any; kNoSlot when no best effort waits.
  SlotIndex last_best_effort(std::size_t model) const;
  // A waiting request of the model by round robin over ranks; kNoSlot when none waits.
  SlotIndex pick(std::size_t model, std::uint64_t turn) const;

  const FairShares& shares() const { return shares_; }

  // Walks a model's requests in release order. A walk ends when the room changes. It looks at the
  // lanes of one tier at a time, since most walks end in their first.
  class Walk {
   public:
    // kNoSlot at the end. O(lanes of the tier), and O(log waiting) for each one after the first.
    SlotIndex next();
    void skip_to_best_effort();

   private:
    friend class WaitingRoom;
    struct Cursor {
      OrderKey key;  // of `slot`
      SlotIndex slot = kNoSlot;
      LaneIndex lane = 0;
      std::int64_t served = 0;  // orders best effort only
    };
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    static bool before(const Cursor& a, const Cursor& b);
    void enter(domain::Tier tier);
    void advance(std::size_t index);

    const WaitingRoom* room_ = nullptr;
    std::size_t model_ = 0;
    domain::Tier tier_ = domain::Tier::kBestEffort;
    std::int64_t least_ = 0;
    std::size_t last_ = kNone;  // the cursor that gave the last slot and has yet to move on
    std::vector<Cursor> cursors_;
  };
  // With best_effort_first, best effort is walked first (its drip) and the others not at all.
  // `walk` is reused scratch.
  void start(Walk& walk, std::size_t model, bool best_effort_first) const;

 private:
  struct Lane {
    OrderedQueue queue;
    SlotIndex first = kNoSlot;
    OrderKey first_key;
    std::uint32_t model = 0;
    std::uint32_t tenant = 0;
    Band band = Band::kShare;
    std::size_t position = 0;  // in the active list of its group, while it has work
  };
  struct ModelRoom {
    std::array<std::vector<LaneIndex>, kBandCount> active;
    std::int64_t waiting = 0;
    // The least service of a lane in the share band that is not blocked, while it is known.
    mutable std::int64_t least = 0;
    mutable bool least_known = false;
  };
  std::size_t group(const Lane& lane) const;
  std::int64_t least_served(std::size_t model) const;
  void forget_least(const Lane& lane, std::int64_t served);
  domain::Tier tier(const Lane& lane, LaneIndex index, std::int64_t least) const;
  Work counted(const Work& work, LaneIndex other, LaneIndex lane) const;

  QueueNodes nodes_;
  std::vector<Lane> lanes_;
  std::vector<ModelRoom> by_model_;
  std::vector<std::int64_t> of_tenant_;
  std::vector<std::uint8_t> blocked_;
  units::Nanos share_slack_;
  FairShares shares_;
  std::int64_t waiting_ = 0;
};

}  // namespace tidegate::pool
