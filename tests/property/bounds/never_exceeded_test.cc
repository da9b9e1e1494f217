#include <gtest/gtest.h>

#include "scenario/bounds.h"
#include "sim/simulator.h"
#include "world.h"

namespace tidegate::bounds_world {
namespace {

constexpr std::uint64_t kWorlds = 300;

report::Totals run(const RandomWorld& random) {
  return sim::Simulator(random.world, random.arrivals(), random.model_names()).run().totals;
}

// No policy attains more than a bound, in any world: bounds that are too low would call a policy
// better than possible.
TEST(BoundsInRandomWorlds, AreNeverExceeded) {
  int near = 0;
  int below_one = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const RandomWorld random = random_world(seed);
    const report::Bounds bounds = scenario::bounds_of(random.world, random.arrivals());
    const report::Totals totals = run(random);
    const double attained = totals.attainment_offered();
    ASSERT_LE(attained, *bounds.interval_lp + 1e-9) << "world " << seed;
    ASSERT_LE(*bounds.interval_lp, *bounds.fluid) << "world " << seed;
    near += totals.kept > 0 && attained > *bounds.interval_lp - 0.1 ? 1 : 0;
    below_one += *bounds.interval_lp < 1 ? 1 : 0;
  }
  // The worlds are of the kind in which a wrong bound would show.
  EXPECT_GT(near, 20);
  EXPECT_GT(below_one, 100);
}

}  // namespace
}  // namespace tidegate::bounds_world
