#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baselines/registry.h"
#include "scenario/bounds.h"
#include "sim/simulator.h"
#include "sim/speed.h"
#include "world.h"

namespace tidegate::bounds_world {
namespace {

constexpr std::uint64_t kWorlds = 300;
// The policies of others live in every tenth of them.
constexpr std::uint64_t kStride = 10;

report::Totals run(const RandomWorld& random, const std::string& name, sim::World world) {
  const auto policy = baselines::policy(name);
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  return sim::Simulator(std::move(world), random.arrivals(), random.model_names()).run().totals;
}

// Every engine policy with the placement that it comes with, and every placement before engines
// that batch for themselves and before ours.
std::vector<std::string> all_policies() {
  std::vector<std::string> names = baselines::engine_names();
  for (const std::string& placement : baselines::placement_names()) {
    names.push_back("vllm-v1/" + placement);
    names.push_back("tidegate/" + placement);
  }
  return names;
}

// No policy attains more than a bound, in any world: bounds that are too low would call a policy
// better than possible.
TEST(BoundsInRandomWorlds, AreNeverExceeded) {
  const std::vector<std::string> everyone = all_policies();
  const std::vector<std::string> ours = {"tidegate"};
  int near = 0;
  int below_one = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const RandomWorld random = random_world(seed);
    const report::Bounds bounds = scenario::bounds_of(random.world, random.arrivals());
    ASSERT_LE(*bounds.interval_lp, *bounds.fluid) << "world " << seed;
    for (const std::string& policy : seed % kStride == 0 ? everyone : ours) {
      const report::Totals totals = run(random, policy, random.world);
      const double attained = totals.attainment_offered();
      EXPECT_LE(attained, *bounds.interval_lp + 1e-9) << policy << " in world " << seed;
      near += totals.kept > 0 && attained > *bounds.interval_lp - 0.1 ? 1 : 0;
    }
    below_one += *bounds.interval_lp < 1 ? 1 : 0;
  }
  // The worlds are of the kind in which a wrong bound would show.
  EXPECT_GT(near, 50);
  EXPECT_GT(below_one, 100);
}

// A policy that knows every length, and a world without surprises in its step times, attain no more
// than the bounds of the world as it is.
TEST(BoundsInRandomWorlds, HoldForOraclesToo) {
  for (std::uint64_t seed = 1; seed <= kWorlds / 2; ++seed) {
    const RandomWorld random = random_world(seed);
    const double bound = *scenario::bounds_of(random.world, random.arrivals()).interval_lp;
    sim::World known = random.world;
    known.known_lengths = true;
    EXPECT_LE(run(random, "tidegate", known).attainment_offered(), bound + 1e-9)
        << "world " << seed;
    known.physics.step_noise = units::Ppm(0);
    EXPECT_LE(run(random, "tidegate", known).attainment_offered(), bound + 1e-9)
        << "world " << seed;
  }
}

// Faster engines make more possible, or as much.
TEST(BoundsInRandomWorlds, RiseWithSpeed) {
  for (std::uint64_t seed = 1; seed <= kWorlds / 6; ++seed) {
    const RandomWorld random = random_world(seed);
    report::Bounds before = scenario::bounds_of(random.world, random.arrivals());
    for (const double speed : {1.5, 4.0}) {
      const report::Bounds after =
          scenario::bounds_of(sim::with_speed(random.world, speed), random.arrivals());
      EXPECT_GE(*after.roofline, *before.roofline - 1e-6) << "world " << seed;
      EXPECT_GE(*after.fluid, *before.fluid - 1e-6) << "world " << seed;
      EXPECT_GE(*after.interval_lp, *before.interval_lp - 1e-6) << "world " << seed;
      before = after;
    }
  }
}

}  // namespace
}  // namespace tidegate::bounds_world
