#include "baselines/pool/cache_aware.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engines.h"

namespace tidegate::baselines {
namespace {

// A prompt of `blocks` blocks, the first `shared` of them those of its family.
domain::Request prompt(std::uint64_t family, std::uint64_t own, std::size_t shared,
                       std::size_t blocks) {
  std::vector<std::uint64_t> chain;
  for (std::size_t i = 0; i < blocks; ++i) {
    chain.push_back((i < shared ? family : own) * 1'000 + i);
  }
  domain::Request request;
  request.prefix = std::make_shared<const std::vector<std::uint64_t>>(std::move(chain));
  return request;
}

Engines three() {
  Engines e;
  for (int i = 0; i < 3; ++i) e.add(0, 0);
  return e;
}

void reports(Target& target, std::int64_t kv_used, std::int64_t waiting) {
  target.report.kv_used = units::Blocks(kv_used);
  target.report.waiting = waiting;
}

// A router remembers prefixes of what it sent, per engine, and forgets the tails of the prompts
// that it has not seen for longest.
TEST(PrefixMemory, ForgetsTailsFirst) {
  PrefixMemory memory;
  const auto a = prompt(1, 1, 10, 10).prefix;
  const auto b = prompt(2, 2, 10, 10).prefix;
  memory.note(0, a, 15);
  EXPECT_EQ(memory.matched(0, a), 10u);
  EXPECT_EQ(memory.matched(1, a), 0u);
  memory.note(0, b, 15);
  EXPECT_EQ(memory.matched(0, b), 10u);
  EXPECT_EQ(memory.matched(0, a), 5u);
  memory.forget(0);
  EXPECT_EQ(memory.matched(0, b), 0u);
  EXPECT_EQ(memory.matched(0, nullptr), 0u);
}

// SGLang's router: more than 30 % of the prompt known: to the engine that knows it, although
// others have less to do; 30 % or less: to the one with the fewest requests.
TEST(PrefixAffinity, FollowsAKnownPrefix) {
  PrefixAffinity rule;
  Engines e = three();
  EXPECT_EQ(rule.route(prompt(1, 1, 4, 10), e.targets), 0u);
  e.targets[0].in_flight = 5;
  e.targets[1].in_flight = 3;
  EXPECT_EQ(rule.route(prompt(1, 2, 4, 10), e.targets), 0u);
  EXPECT_EQ(rule.route(prompt(1, 3, 3, 10), e.targets), 2u);
}

// SGLang's router out of balance (65 more than the least, and more than 1.5 times as many): to the
// least loaded, whatever is cached where.
TEST(PrefixAffinity, BalancesFirst) {
  PrefixAffinity rule;
  Engines e = three();
  EXPECT_EQ(rule.route(prompt(1, 1, 10, 10), e.targets), 0u);
  e.targets[0].in_flight = 64;
  EXPECT_EQ(rule.route(prompt(1, 1, 10, 10), e.targets), 0u);
  e.targets[0].in_flight = 65;
  EXPECT_EQ(rule.route(prompt(1, 1, 10, 10), e.targets), 1u);
}

// Weights by hand. Engine 0 knows all of the prompt (3), has the longest queue (0) and half of its
// memory free (1): 4. Engine 1 has no queue (2) and all memory free (2): 4. Engine 2 knows half
// (1.5), has half the queue (1) and three quarters free (1.5): 4. With one block less in use,
// engine 2 wins.
TEST(Epp, AddsWeightedScores) {
  Engines e = three();
  Epp rule(1);
  e.targets[1].report.waiting = e.targets[2].report.waiting = 5;  // first 0, by its empty queue
  EXPECT_EQ(rule.route(prompt(1, 1, 10, 10), e.targets), 0u);
  e.targets[2].report.waiting = 0;
  e.targets[0].report.waiting = 5;
  e.targets[0].report.kv_used = units::Blocks(80);
  e.targets[2].report.kv_used = units::Blocks(0);
  EXPECT_EQ(rule.route(prompt(1, 2, 5, 10), e.targets), 2u);
  reports(e.targets[0], 50, 4);
  reports(e.targets[1], 0, 0);
  reports(e.targets[2], 24, 2);
  EXPECT_EQ(rule.route(prompt(1, 1, 10, 10), e.targets), 2u);
}

// The gate: nobody goes in while every engine has more than 5 waiting or more than 80 % in use.
TEST(Epp, HoldsWhileAllAreSaturated) {
  Engines e;
  e.add(0, 0);
  e.add(0, 0);
  Epp rule(1);
  e.targets[0].report.waiting = 6;
  e.targets[1].report.kv_used = units::Blocks(81);
  EXPECT_EQ(rule.route({}, e.targets), std::nullopt);
  e.targets[1].report.kv_used = units::Blocks(80);
  EXPECT_TRUE(rule.route({}, e.targets).has_value());
}

}  // namespace
}  // namespace tidegate::baselines
