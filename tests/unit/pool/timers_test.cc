#include "pool/queueing/timers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

// Setting, moving and dropping timers at random: the earliest is always that of a sorted set.
TEST(Timers, EarliestIsThatOfASortedSet) {
  units::Prng prng(5);
  Timers timers(50);
  std::map<SlotIndex, units::Instant> model;
  for (int i = 0; i < 20'000; ++i) {
    const auto slot = static_cast<SlotIndex>(prng.below(50));
    if (prng.chance(units::Ppm(300'000))) {
      timers.drop(slot);
      model.erase(slot);
    } else {
      model[slot] = units::Instant(prng.between(0, 100));
      timers.set(slot, model[slot]);
    }
    std::set<std::pair<units::Instant, SlotIndex>> sorted;
    for (const auto& [s, at] : model) sorted.insert({at, s});
    ASSERT_EQ(timers.size(), sorted.size());
    if (sorted.empty()) {
      ASSERT_EQ(timers.earliest(), kNoSlot);
      continue;
    }
    ASSERT_EQ(timers.earliest(), sorted.begin()->second);
    ASSERT_EQ(timers.earliest_at(), sorted.begin()->first);
  }
}

}  // namespace
}  // namespace tidegate::pool
