#include "pool/pool_scheduler.h"

#include <gtest/gtest.h>

#include "pool_env.h"

namespace tidegate::pool::testing {
namespace {

using domain::Outcome;
using domain::Reason;

// An idle engine takes an arrival at once: Admit, then Assign, in the same step.
TEST(PoolScheduler, IdleEngineTakesAtOnce) {
  PoolEnv env(config({tenant(0)}));
  env.join(engine_spec(1));
  env.arrive(request(1, 100, 10), ms(500));
  ASSERT_EQ(env.last.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<domain::Admit>(env.last[0]));
  ASSERT_TRUE(std::holds_alternative<domain::Assign>(env.last[1]));
  env.finish(1, 10);
  ASSERT_NE(env.ended(1), nullptr);
  EXPECT_EQ(env.ended(1)->outcome, Outcome::kCompleted);
  EXPECT_TRUE(env.pool.engines()[0].idle());
  EXPECT_EQ(env.pool.requests().size(), 0U);
}

// Without an engine of the model the answer is at once kNoEngine, with a hint.
TEST(PoolScheduler, NoEngineIsRefusedAtOnce) {
  PoolEnv env(config({tenant(0)}));
  env.arrive(request(1, 100, 10), ms(500));
  ASSERT_NE(env.ended(1), nullptr);
  EXPECT_EQ(env.ended(1)->outcome, Outcome::kRejectedCapacity);
  EXPECT_EQ(env.ended(1)->reason, Reason::kNoEngine);
  EXPECT_GE(env.ended(1)->retry_after, ms(1));
}

// Waiting requests are released in deadline order, whatever order they came in.
TEST(PoolScheduler, ReleasesInDeadlineOrder) {
  auto c = config({tenant(0, domain::OnOverload::kQueue)});
  PoolEnv env(c);
  auto spec = engine_spec(1);
  spec.limits.max_sequences = 1;
  env.join(spec);
  env.arrive(request(1, 10, 10), ms(10'000));
  env.arrive(request(2, 10, 10), ms(9'000));
  env.arrive(request(3, 10, 10), ms(7'000));
  env.arrive(request(4, 10, 10), ms(8'000));
  for (const std::uint64_t id : {1U, 3U, 4U, 2U}) env.finish(id, 10);
  EXPECT_EQ(env.ids_of<domain::Assign>(), (std::vector<std::uint64_t>{1, 3, 4, 2}));
}

// Who is at its limit of requests in flight is told to come back when one of its own is predicted
// to end, here after 200 steps of 1 ms, within the jitter of 10 %; that others' requests end sooner
// does not help it.
TEST(PoolScheduler, InFlightHintIsTheEndOfOnesOwn) {
  auto limited = tenant(0);
  limited.limits.in_flight = 1;
  PoolEnv env(config({limited, tenant(1)}));
  env.join(engine_spec(1, 0));
  env.arrive(request(1, 10, 200), ms(10'000));
  auto other = request(2, 10, 5);
  other.tenant = units::TenantId(1);
  env.arrive(other, ms(10'000));
  env.arrive(request(3, 10, 10), ms(10'000));
  ASSERT_NE(env.ended(3), nullptr);
  EXPECT_EQ(env.ended(3)->reason, Reason::kInFlight);
  EXPECT_GE(env.ended(3)->retry_after, ms(180));
  EXPECT_LE(env.ended(3)->retry_after, ms(225));
}

}  // namespace
}  // namespace tidegate::pool::testing
