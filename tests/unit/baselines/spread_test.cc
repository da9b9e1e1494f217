#include "baselines/pool/spread.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engines.h"

namespace tidegate::baselines {
namespace {

using units::Tokens;

// Turns go on from the last one, over engines that are not there for a while.
TEST(RoundRobin, SkipsWhatIsNotThere) {
  Engines e;
  for (int i = 0; i < 3; ++i) e.add(0, 0);
  RoundRobin rule;
  EXPECT_EQ(rule.route({}, e.targets), 0u);
  const std::vector<Target> without_second = {e.targets[0], e.targets[2]};
  EXPECT_EQ(rule.route({}, without_second), 2u);
  EXPECT_EQ(rule.route({}, e.targets), 0u);
}

// Fewest in flight first; equals take turns.
TEST(LeastRequests, TakesTheEmptiest) {
  Engines e;
  e.add(3, 0);
  e.add(1, 0);
  e.add(1, 0);
  LeastRequests rule;
  EXPECT_EQ(rule.route({}, e.targets), 1u);
  EXPECT_EQ(rule.route({}, e.targets), 2u);
  EXPECT_EQ(rule.route({}, e.targets), 1u);
}

// Memory in use counts as a share: 300 of 1,600 tokens is less than 200 of 800.
TEST(LeastKv, ComparesShares) {
  Engines e;
  e.add(9, 300, 100);
  e.add(1, 200, 50);
  LeastKv rule;
  EXPECT_EQ(rule.route({}, e.targets), 0u);
}

// Of three engines the fullest is never the better of two, the emptiest wins both pairs that it is
// in: 2 of 3 draws, the middle one the third; random gives each a third.
TEST(PowerOfTwo, PrefersTheEmptierOfTwoDraws) {
  Engines e;
  e.add(9, 0);
  e.add(5, 0);
  e.add(1, 0);
  PowerOfTwo rule(1);
  Random random(1);
  constexpr int kDraws = 30'000;
  std::array<int, 3> chosen{};
  std::array<int, 3> drawn{};
  for (int i = 0; i < kDraws; ++i) {
    chosen.at(*rule.route({}, e.targets)) += 1;
    drawn.at(*random.route({}, e.targets)) += 1;
  }
  EXPECT_EQ(chosen[0], 0);
  // Five standard deviations of a binomial count with p = 1/3 are 408.
  EXPECT_NEAR(chosen[1], kDraws / 3.0, 408);
  for (const int count : drawn) EXPECT_NEAR(count, kDraws / 3.0, 408);
}

}  // namespace
}  // namespace tidegate::baselines
