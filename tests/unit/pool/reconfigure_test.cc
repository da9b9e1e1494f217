#include <gtest/gtest.h>

#include "pool_env.h"

namespace tidegate::pool {
namespace {

using testing::config;
using testing::engine_spec;
using testing::ms;
using testing::PoolEnv;
using testing::request;
using testing::tenant;

PoolConfig two_tenants() {
  return config({tenant(0, domain::OnOverload::kQueue), tenant(1, domain::OnOverload::kQueue)});
}

domain::Request of_tenant(std::uint64_t id, std::uint64_t tenant_id) {
  domain::Request r = request(id, 100, 10);
  r.tenant = units::TenantId(tenant_id);
  return r;
}

// An engine that runs one request at a time.
domain::EngineSpec narrow_engine() {
  domain::EngineSpec spec = engine_spec(0);
  spec.limits.max_sequences = 1;
  return spec;
}

// Who waits and who runs when the configuration changes ends as if it had not: the same order, one
// end each, nothing left over.
TEST(Reconfigure, KeepsWhatIsInside) {
  PoolEnv env(two_tenants());
  env.join(narrow_engine());
  for (std::uint64_t id = 1; id <= 6; ++id) env.arrive(of_tenant(id, id % 2), ms(60'000));
  PoolConfig changed = two_tenants();
  changed.tenants[0].weight = 7;
  changed.tenants.push_back(tenant(2));
  ASSERT_TRUE(env.pool.reconfigure(changed));
  env.tick(ms(1));
  EXPECT_EQ(env.pool.waiting_room().waiting(), 5);
  for (std::uint64_t id = 1; id <= 6; ++id) {
    ASSERT_NE(env.assigned(id), nullptr) << id;
    env.finish(id, 10);
    ASSERT_NE(env.ended(id), nullptr) << id;
    EXPECT_EQ(env.ended(id)->outcome, domain::Outcome::kCompleted) << id;
  }
  EXPECT_EQ(env.pool.waiting_room().waiting(), 0);
  EXPECT_EQ(env.pool.requests().size(), 0u);
  EXPECT_EQ(env.pool.holds(units::TenantId(0))->alive, 0);
}

// A tenant that came with the new configuration is served; before, it was unknown.
TEST(Reconfigure, AddsTenants) {
  PoolEnv env(two_tenants());
  env.join(engine_spec(0));
  env.arrive(of_tenant(1, 2), ms(1'000));
  EXPECT_EQ(env.ended(1)->outcome, domain::Outcome::kRejectedInvalid);
  PoolConfig more = two_tenants();
  more.tenants.push_back(tenant(2));
  ASSERT_TRUE(env.pool.reconfigure(more));
  env.arrive(of_tenant(2, 2), ms(1'000));
  EXPECT_NE(env.assigned(2), nullptr);
}

// A larger limit of requests in flight lets those go that waited for it, with the next step.
TEST(Reconfigure, RaisedLimitReleases) {
  PoolConfig tight = two_tenants();
  tight.tenants[0].limits.in_flight = 1;
  PoolEnv env(tight);
  env.join(engine_spec(0));
  env.arrive(of_tenant(1, 0), ms(60'000));
  env.arrive(of_tenant(2, 0), ms(60'000));
  EXPECT_EQ(env.assigned(2), nullptr);
  ASSERT_TRUE(env.pool.reconfigure(two_tenants()));
  env.tick(ms(0));
  EXPECT_NE(env.assigned(2), nullptr);
}

// A lowered one takes nothing back and starts nothing until the tenant is below it.
TEST(Reconfigure, LoweredLimitHolds) {
  PoolEnv env(two_tenants());
  env.join(engine_spec(0));
  for (std::uint64_t id = 1; id <= 3; ++id) env.arrive(of_tenant(id, 0), ms(60'000));
  PoolConfig tight = two_tenants();
  tight.tenants[0].limits.in_flight = 1;
  ASSERT_TRUE(env.pool.reconfigure(tight));
  env.arrive(of_tenant(4, 0), ms(60'000));
  env.finish(1, 10);
  env.finish(2, 10);
  EXPECT_EQ(env.assigned(4), nullptr);
  env.finish(3, 10);
  EXPECT_NE(env.assigned(4), nullptr);
}

// Half of a limit that was spent is half of the new limit spent: 6 of 12 become 3 of 6.
TEST(Reconfigure, BucketsKeepTheirShare) {
  PoolConfig before = two_tenants();
  before.tenants[0].limits.requests_per_min = 12;
  PoolEnv env(before);
  env.join(engine_spec(0));
  for (std::uint64_t id = 1; id <= 6; ++id) env.arrive(of_tenant(id, 0), ms(60'000));
  EXPECT_EQ(env.pool.holds(units::TenantId(0))->requests_left, 6);
  PoolConfig after = two_tenants();
  after.tenants[0].limits.requests_per_min = 6;
  ASSERT_TRUE(env.pool.reconfigure(after));
  EXPECT_EQ(env.pool.holds(units::TenantId(0))->requests_left, 3);
}

// What would need another pool is refused and changes nothing.
TEST(Reconfigure, RefusesOtherBounds) {
  PoolEnv env(two_tenants());
  PoolConfig fewer = two_tenants();
  fewer.tenants.pop_back();
  EXPECT_FALSE(env.pool.reconfigure(fewer));
  PoolConfig models = two_tenants();
  models.models.emplace_back(1u);
  EXPECT_FALSE(env.pool.reconfigure(models));
  PoolConfig bounds = two_tenants();
  bounds.limits.max_queued += 1;
  EXPECT_FALSE(env.pool.reconfigure(bounds));
  EXPECT_EQ(env.pool.config().tenants.size(), 2u);
}

}  // namespace
}  // namespace tidegate::pool
