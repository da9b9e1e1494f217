// The release order of the waiting room against a plain sort of everything that waits.
#include "pool/queueing/waiting_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

using domain::Tier;

constexpr std::size_t kTenants = 5;
constexpr std::size_t kModels = 2;
constexpr std::size_t kSlots = 64;
constexpr units::Nanos kSlack{300};

// A room in which requests come and go, lanes are charged, and tenants are blocked at random.
class RandomRoom {
 public:
  explicit RandomRoom(std::uint64_t seed)
      : room(kModels, {1, 1, 2, 3, 1}, kSlots, kSlack), prng(seed) {}

  void act() {
    const std::uint64_t what = prng.below(8);
    if (what == 0) {
      room.set_blocked(prng.below(kTenants), prng.below(2) == 0);
    } else if (what == 1) {
      const LaneIndex lane = any_lane();
      room.charge(lane, units::Nanos(prng.between(-50, 500)));
    } else if (waiting.empty() || (what < 5 && waiting.size() < kSlots)) {
      enter();
    } else {
      const std::size_t which = prng.below(waiting.size());
      room.leave(waiting[which].slot, waiting[which].lane);
      free_.push_back(waiting[which].slot);
      waiting[which] = waiting.back();
      waiting.pop_back();
    }
  }

  struct Waiting {
    SlotIndex slot = kNoSlot;
    LaneIndex lane = 0;
    std::size_t model = 0;
    std::size_t tenant = 0;
    Band band = Band::kShare;
    OrderKey key;
  };
  // Tier by tier; in each by key, and best effort by what its lane was served first.
  std::vector<SlotIndex> sorted(std::size_t model) const {
    std::vector<std::tuple<Tier, std::int64_t, OrderKey, SlotIndex>> all;
    for (const Waiting& w : waiting) {
      if (w.model != model || room.blocked(w.tenant)) continue;
      const Tier tier = tier_of(w);
      const std::int64_t served = tier == Tier::kBestEffort ? room.shares().served(w.lane) : 0;
      all.emplace_back(tier, served, w.key, w.slot);
    }
    std::sort(all.begin(), all.end());
    std::vector<SlotIndex> slots;
    for (const auto& one : all) slots.push_back(std::get<SlotIndex>(one));
    return slots;
  }
  bool is_best_effort(SlotIndex slot) const {
    return std::any_of(waiting.begin(), waiting.end(), [&](const Waiting& w) {
      return w.slot == slot && w.band == Band::kBestEffort;
    });
  }
  // The best effort of a model that stands behind the first `before` of sorted().
  std::vector<SlotIndex> best_effort_behind(std::size_t model, std::size_t before) const {
    std::vector<SlotIndex> slots = sorted(model);
    slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(before));
    std::erase_if(slots, [&](SlotIndex slot) { return !is_best_effort(slot); });
    return slots;
  }
  Tier tier_of(const Waiting& w) const {
    if (w.band == Band::kGuaranteed) return Tier::kGuaranteed;
    if (w.band == Band::kBestEffort) return Tier::kBestEffort;
    const std::int64_t slack = (kSlack * FairShares::kScale).value();
    const bool above = std::any_of(waiting.begin(), waiting.end(), [&](const Waiting& other) {
      return other.model == w.model && other.band == Band::kShare && !room.blocked(other.tenant) &&
             room.shares().served(w.lane) - room.shares().served(other.lane) > slack;
    });
    return above ? Tier::kAboveShare : Tier::kWithinShare;
  }

  WaitingRoom room;
  units::Prng prng;
  std::vector<Waiting> waiting;

 private:
  LaneIndex any_lane() {
    return room.lane_of(prng.below(kModels), prng.below(kTenants),
                        static_cast<Band>(prng.below(kBandCount)));
  }
  void enter() {
    Waiting w;
    w.slot = free_.back();
    free_.pop_back();
    w.model = prng.below(kModels);
    w.tenant = prng.below(kTenants);
    w.band = static_cast<Band>(prng.below(kBandCount));
    w.lane = room.lane_of(w.model, w.tenant, w.band);
    const units::Instant due(prng.between(0, 9));  // many ties
    w.key = {due, due, units::RequestId(++ids_)};
    room.enter(w.slot, w.lane, w.key, {.requests = 1});
    waiting.push_back(w);
  }
  static std::vector<SlotIndex> all_slots() {
    std::vector<SlotIndex> slots;
    for (std::size_t i = 0; i < kSlots; ++i) slots.push_back(static_cast<SlotIndex>(i));
    return slots;
  }

  std::vector<SlotIndex> free_ = all_slots();
  std::uint64_t ids_ = 0;
};

std::vector<SlotIndex> rest_of(WaitingRoom::Walk& walk) {
  std::vector<SlotIndex> slots;
  for (SlotIndex s = walk.next(); s != kNoSlot; s = walk.next()) slots.push_back(s);
  return slots;
}

std::vector<SlotIndex> walked(const RandomRoom& world, std::size_t model, WaitingRoom::Walk& walk) {
  world.room.start(walk, model, false);
  return rest_of(walk);
}

// A walk gives everything that is not blocked, once, in the order of tiers, service and keys.
TEST(WaitingRoom, WalksInReleaseOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomRoom world(seed);
    WaitingRoom::Walk walk;
    for (int i = 0; i < 500; ++i) {
      world.act();
      for (std::size_t model = 0; model < kModels; ++model)
        ASSERT_EQ(walked(world, model, walk), world.sorted(model)) << seed << " act " << i;
    }
  }
}

// The tier of a lane follows from what every unblocked lane beside it has been served.
TEST(WaitingRoom, TiersFollowFromService) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomRoom world(seed);
    for (int i = 0; i < 500; ++i) {
      world.act();
      for (const RandomRoom::Waiting& w : world.waiting)
        ASSERT_EQ(world.room.tier(w.lane), world.tier_of(w)) << "seed " << seed << " act " << i;
    }
  }
}

// Skipping ahead leaves exactly the best effort that was not yet walked.
TEST(WaitingRoom, SkipsToBestEffort) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomRoom world(seed);
    WaitingRoom::Walk walk;
    for (int i = 0; i < 300; ++i) {
      world.act();
      const std::size_t before = world.prng.below(world.sorted(0).size() + 1);
      world.room.start(walk, 0, false);
      for (std::size_t k = 0; k < before; ++k) walk.next();
      walk.skip_to_best_effort();
      ASSERT_EQ(rest_of(walk), world.best_effort_behind(0, before)) << seed << " act " << i;
    }
  }
}

}  // namespace
}  // namespace tidegate::pool
