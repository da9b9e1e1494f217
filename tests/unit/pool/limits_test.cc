#include "pool/admission/limits.h"

#include <gtest/gtest.h>

#include "pool_env.h"

namespace tidegate::pool::testing {
namespace {

using domain::OnOverload;
using domain::Outcome;
using domain::Reason;
using units::Tokens;

// What a request reserved and did not use comes back at its end, and only then.
TEST(Limits, UnusedReservationsComeBack) {
  auto t = tenant(0);
  t.limits.tokens_per_min = Tokens(100);
  PoolEnv env(config({t}));
  env.join(engine_spec(1));
  env.arrive(request(1, 50, 50), ms(5'000));
  EXPECT_EQ(env.pool.holds(t.id)->tokens_left, 0);
  env.arrive(request(2, 20, 20), ms(5'000));
  ASSERT_NE(env.ended(2), nullptr);
  EXPECT_EQ(env.ended(2)->outcome, Outcome::kRejectedQuota);
  EXPECT_EQ(env.ended(2)->reason, Reason::kTokenRate);
  env.finish(1, 10);
  EXPECT_EQ(env.pool.holds(t.id)->tokens_left, 40);
  env.arrive(request(3, 20, 20), ms(5'000));
  EXPECT_NE(env.assigned(3), nullptr);
}

// The retry hint of a rate limit is when the window has refilled, within 10 %.
TEST(Limits, RateHintIsTheRefill) {
  auto t = tenant(0);
  t.limits.requests_per_min = 6;  // one in ten seconds
  PoolEnv env(config({t}));
  env.join(engine_spec(1));
  for (std::uint64_t id = 1; id <= 6; ++id) env.arrive(request(id, 10, 10), ms(5'000));
  env.arrive(request(7, 10, 10), ms(5'000));
  ASSERT_NE(env.ended(7), nullptr);
  EXPECT_EQ(env.ended(7)->reason, Reason::kRequestRate);
  EXPECT_GE(env.ended(7)->retry_after, ms(9'000));
  EXPECT_LE(env.ended(7)->retry_after, ms(11'000));
}

// In flight is never passed: a tenant that queues waits for its own end although the engine has
// room, another one is refused.
TEST(Limits, InFlightHoldsOrRefuses) {
  for (const auto on_overload : {OnOverload::kQueue, OnOverload::kReject}) {
    auto t = tenant(0, on_overload);
    t.limits.in_flight = 1;
    PoolEnv env(config({t}));
    env.join(engine_spec(1));
    env.arrive(request(1, 10, 10), ms(5'000));
    env.arrive(request(2, 10, 10), ms(5'000));
    EXPECT_EQ(env.assigned(2), nullptr);
    if (on_overload == OnOverload::kReject) {
      ASSERT_NE(env.ended(2), nullptr);
      EXPECT_EQ(env.ended(2)->reason, Reason::kInFlight);
      continue;
    }
    env.finish(1, 10);
    EXPECT_NE(env.assigned(2), nullptr);
  }
}

// Within its envelope a tenant's requests are tier 0; beyond it they are not.
TEST(Limits, GuaranteeCoversItsEnvelope) {
  auto t = tenant(0);
  t.guarantee = domain::Guarantee{Tokens(10), Tokens(150), Tokens(100), Tokens(50)};
  PoolEnv env(config({t}));
  env.join(engine_spec(1));
  env.arrive(request(1, 60, 40), ms(5'000));
  env.arrive(request(2, 60, 40), ms(5'000));
  EXPECT_EQ(env.assigned(1)->tier, domain::Tier::kGuaranteed);
  EXPECT_EQ(env.assigned(2)->tier, domain::Tier::kWithinShare);
}

// A storm of repeated requests waits only within its budget: three at the start, then a tenth of
// the first tries.
TEST(Limits, RepeatedRequestsLiveOnABudget) {
  PoolEnv env(config({tenant(0, OnOverload::kQueue)}));
  auto spec = engine_spec(1);
  spec.limits.max_sequences = 1;
  env.join(spec);
  for (std::uint64_t id = 1; id <= 20; ++id) env.arrive(request(id, 10, 10), ms(60'000));
  for (std::uint64_t id = 21; id <= 60; ++id) {
    auto r = request(id, 10, 10);
    r.caller_retries = 1;
    env.arrive(r, ms(60'000));
  }
  std::int64_t kept = 0;
  for (std::uint64_t id = 21; id <= 60; ++id) kept += env.ended(id) == nullptr ? 1 : 0;
  EXPECT_EQ(kept, 5);
}

}  // namespace
}  // namespace tidegate::pool::testing
