#include "pool/admission/expected_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pool_env.h"

namespace tidegate::pool::testing {
namespace {

using units::Instant;
using units::Nanos;

// The tightest pace holds until nobody has asked for it, or a tighter one, for ten seconds; then
// the next that is asked for does.
TEST(ExpectedPace, IsTheTightestUntilNobodyAsksForIt) {
  ExpectedPace pace;
  EXPECT_EQ(pace.at(Instant(0)), Nanos::max());
  pace.see(ms(50), Instant(0));
  pace.see(ms(200), Instant(0) + ms(5'000));
  EXPECT_EQ(pace.at(Instant(0) + ms(10'000)), ms(50));
  EXPECT_EQ(pace.at(Instant(0) + ms(10'001)), Nanos::max());
  pace.see(ms(200), Instant(0) + ms(10'001));
  EXPECT_EQ(pace.at(Instant(0) + ms(12'000)), ms(200));
  pace.see(ms(40), Instant(0) + ms(13'000));
  EXPECT_EQ(pace.at(Instant(0) + ms(22'000)), ms(40));
}

// Each sequence makes a step 10 ms longer, so that three keep a pace of 50 ms (see TightestPace in
// predicate_test.cc), of eight that can run.
domain::EngineSpec slow_with_many(std::uint64_t id) {
  auto spec = engine_spec(id, 0);
  spec.law.per_decode_fs = 10'000'000'000'000;
  return spec;
}

// The first request asks for 50 ms a token, and ends.
void ask_for_50ms(PoolEnv& env) {
  env.arrive(request(1, 16, 10), ms(60'000), ms(50));
  env.finish(1, 10);
}

// Eight more that are content with any pace.
void arrive_content(PoolEnv& env) {
  for (std::uint64_t id = 2; id <= 9; ++id) env.arrive(request(id, 16, 10), ms(60'000));
}

// Those that are content with any pace leave the only engine fast enough for one whose like came
// before: it goes as soon as one of them has ended, though more of them wait.
TEST(ExpectedPace, TheOnlyEngineIsKeptFastEnough) {
  PoolEnv env(config({tenant(0, domain::OnOverload::kQueue)}));
  env.join(slow_with_many(1));
  ask_for_50ms(env);
  arrive_content(env);
  EXPECT_EQ(env.ids_of<domain::Assign>(), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  env.arrive(request(10, 16, 10), ms(2'000), ms(50));
  EXPECT_EQ(env.assigned(10), nullptr);
  env.finish(2, 10);
  EXPECT_NE(env.assigned(10), nullptr);
}

// Once nobody has wanted the pace for a while, all eight sequences run.
TEST(ExpectedPace, IsForgotten) {
  PoolEnv env(config({tenant(0, domain::OnOverload::kQueue)}));
  env.join(slow_with_many(1));
  ask_for_50ms(env);
  env.tick(ms(10'001));
  arrive_content(env);
  EXPECT_EQ(env.ids_of<domain::Assign>().size(), 9U);
}

// Of several engines one is kept fast enough, and the others are filled.
TEST(ExpectedPace, OneOfSeveralEnginesIsKeptFastEnough) {
  PoolEnv env(config({tenant(0, domain::OnOverload::kQueue)}));
  for (const std::uint64_t id : {1U, 2U, 3U}) env.join(slow_with_many(id));
  ask_for_50ms(env);
  for (std::uint64_t id = 2; id <= 40; ++id) env.arrive(request(id, 16, 10), ms(60'000));
  std::vector<std::int64_t> running;
  for (const EngineView& engine : env.pool.engines()) running.push_back(engine.pledges());
  std::sort(running.begin(), running.end());
  EXPECT_EQ(running, (std::vector<std::int64_t>{3, 8, 8}));
}

// Who waits only for the sake of a pace starts when nobody has asked for it for ten seconds, though
// nothing else has happened.
TEST(ExpectedPace, TheOnesItKeptWaitingStartWhenItIsForgotten) {
  PoolEnv env(config({tenant(0, domain::OnOverload::kQueue)}));
  env.join(slow_with_many(1));
  ask_for_50ms(env);
  arrive_content(env);
  EXPECT_EQ(env.pool.engines()[0].pledges(), 3);
  env.tick(ms(10'001));
  EXPECT_EQ(env.pool.engines()[0].pledges(), 8);
}

// An engine that is too slow for the pace whatever runs on it is filled, also when the only one
// that is not is taken; and where every engine is too slow for it nobody waits for its sake.
TEST(ExpectedPace, EnginesThatAreTooSlowInAnyCaseAreFilled) {
  auto slow = slow_with_many(2);
  slow.law.base_fs = 80'000'000'000'000;
  PoolEnv unequal(config({tenant(0, domain::OnOverload::kQueue)}));
  unequal.join(slow_with_many(1));
  unequal.arrive(request(1, 16, 10), ms(60'000), ms(50));
  unequal.join(slow);
  for (std::uint64_t id = 2; id <= 20; ++id) unequal.arrive(request(id, 16, 10), ms(600'000));
  EXPECT_EQ(unequal.pool.engines()[1].pledges(), 8);

  PoolEnv asked_too_much(config({tenant(0, domain::OnOverload::kQueue)}));
  asked_too_much.join(slow_with_many(1));
  asked_too_much.arrive(request(1, 16, 10), ms(60'000), ms(5));
  asked_too_much.finish(1, 10);
  for (std::uint64_t id = 2; id <= 9; ++id) {
    asked_too_much.arrive(request(id, 16, 10), ms(600'000));
  }
  EXPECT_EQ(asked_too_much.pool.engines()[0].pledges(), 8);
}

// Best effort that makes way keeps no pace for others: it fills the engine.
TEST(ExpectedPace, BestEffortThatMakesWayIsNotHeldBack) {
  auto spec = slow_with_many(1);
  for (const bool makes_way : {true, false}) {
    PoolEnv one(config({tenant(0)}));
    spec.own_batching = makes_way;
    one.join(spec);
    one.arrive(request(1, 16, 10), ms(60'000), ms(50));
    one.finish(1, 10);
    for (std::uint64_t id = 2; id <= 9; ++id) one.arrive(request(id, 16, 10), Nanos(0));
    EXPECT_EQ(one.pool.engines()[0].pledges(), makes_way ? 8 : 3);
  }
}

}  // namespace
}  // namespace tidegate::pool::testing
