// A recorded world replays to the same decisions, and a changed record does not.
#include "journal/replay.h"

#include <gtest/gtest.h>

#include "world.h"

namespace tidegate::swarm {
namespace {

std::vector<journal::Step> recorded(std::uint64_t seed, pool::PoolConfig& config) {
  std::vector<journal::Step> steps;
  WorldOptions options;
  options.seed = seed;
  options.watch = [&](const journal::Step& step) { steps.push_back(step); };
  World world(std::move(options));
  config = world.config();
  world.run();
  return steps;
}

// Law: the events of a journal, through its own bytes, give its decisions again (D3).
TEST(Replay, GivesTheSameDecisions) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    pool::PoolConfig config;
    const auto steps = recorded(seed, config);
    journal::Replay replay(config);
    for (const journal::Step& step : steps) {
      journal::Bytes bytes;
      journal::encode(step, bytes);
      const auto record = journal::decode(bytes);
      ASSERT_TRUE(record) << "seed " << seed << ": " << record.error().message;
      ASSERT_FALSE(replay.feed(std::get<journal::Step>(*record))) << "seed " << seed;
    }
  }
}

// Law: the first step whose record was changed is the one that is named.
TEST(Replay, NamesTheFirstDifference) {
  pool::PoolConfig config;
  auto steps = recorded(3, config);
  std::size_t changed = 0;
  while (steps[changed].decisions.empty()) changed += 1;
  steps[changed].decisions.pop_back();
  journal::Replay replay(config);
  for (std::size_t i = 0; i < changed; ++i) ASSERT_FALSE(replay.feed(steps[i]));
  const auto divergence = replay.feed(steps[changed]);
  ASSERT_TRUE(divergence);
  EXPECT_EQ(divergence->step, static_cast<std::int64_t>(changed));
  EXPECT_EQ(divergence->decided.size(), divergence->recorded.decisions.size() + 1);
}

// Law: a journal whose time goes backwards is a difference, not a failed check.
TEST(Replay, RefusesTimeThatGoesBackwards) {
  journal::Replay replay{pool::PoolConfig{}};
  EXPECT_FALSE(replay.feed({units::Instant(10), domain::Tick{}, {}}));
  EXPECT_TRUE(replay.feed({units::Instant(9), domain::Tick{}, {}}));
}

}  // namespace
}  // namespace tidegate::swarm
