// The routing pool in small worlds: where requests go, the oracle on every step, determinism.

#include "baselines/pool/routing_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "baselines/pool/spread.h"
#include "baselines/registry.h"
#include "cost/length_forecast.h"
#include "invariants/pool_oracle.h"
#include "sim/simulator.h"

namespace tidegate::baselines {
namespace {

using units::Instant;
using units::Tokens;

sim::World small_world(const std::string& name, std::uint64_t seed) {
  sim::World world;
  const auto chosen = policy(name);
  world.deciders = {chosen->engine, chosen->pool, chosen->own_batching};
  world.seed = seed;
  domain::ServiceClass chat;
  chat.name = "chat";
  world.pool.classes = {chat};
  domain::Tenant tenant;
  tenant.name = "all";
  world.pool.tenants = {tenant};
  world.pool.models = {units::ModelId(0)};
  for (std::uint64_t id = 0; id < 3; ++id) {
    sim::EngineModel engine;
    engine.gpu = "small";
    engine.true_law.base_fs = 5'000'000'000'000;
    engine.true_law.per_token_fs = {50'000'000'000, 50'000'000'000, 50'000'000'000};
    auto& spec = engine.batch.spec;
    spec.id = units::EngineId(id);
    spec.law = engine.true_law;
    spec.calibrated = true;
    spec.limits = {units::Blocks(64), 8, Tokens(256), Tokens(1'024)};
    world.engines.push_back(engine);
  }
  world.physics.step_noise = units::Ppm(50'000);
  world.physics.dispatch_lag = units::milliseconds(1);
  world.horizon = units::seconds(60);
  return world;
}

// `count` requests at random times; some callers leave.
sim::Arrivals random_arrivals(std::uint64_t seed, std::uint64_t count) {
  auto prng = std::make_shared<units::Prng>(seed);
  auto at = std::make_shared<Instant>();
  auto id = std::make_shared<std::uint64_t>(0);
  return [=]() -> std::optional<sim::WorldRequest> {
    if (*id == count) return std::nullopt;
    *at = *at + units::milliseconds(prng->between(0, 120));
    sim::WorldRequest next;
    next.request.id = units::RequestId(++*id);
    next.request.arrival = *at;
    next.request.footprint.prompt = Tokens(prng->between(1, 300));
    next.request.footprint.max_output = Tokens(100);
    next.output = Tokens(prng->between(1, 100));
    if (prng->below(10) == 0) next.leaves = *at + units::milliseconds(prng->between(1, 900));
    return next;
  };
}

void add_assigned(const std::vector<domain::Decision>& decisions,
                  std::vector<std::uint64_t>& engines) {
  for (const domain::Decision& decision : decisions) {
    const auto* assign = std::get_if<domain::Assign>(&decision);
    if (assign != nullptr) engines.push_back(assign->ref.engine.value());
  }
}

// Round-robin gives each of three idle engines every third request.
TEST(RoutingPool, RoundRobinTakesTurns) {
  sim::World world = small_world("vllm-v1/round-robin", 1);
  std::vector<std::uint64_t> went;
  sim::Simulator simulator(world, random_arrivals(5, 9), {"m"});
  simulator.observe([&](const auto&, const auto&, const auto& decisions, Instant) {
    add_assigned(decisions, went);
  });
  simulator.run();
  EXPECT_EQ(went, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

// An engine that runs whatever it is sent, and one tenant that may have a single request.
struct Served {
  RoutingPool pool;
  domain::EngineSpec spec;

  explicit Served(const pool::PoolConfig& config)
      : pool(config, std::make_unique<LeastRequests>()) {
    spec.limits = {units::Blocks(64), 8, Tokens(256), Tokens(1'024)};
    pool.step(domain::EngineJoined{spec}, Instant(0));
  }
  // How it ended at once; kCompleted when it was sent to the engine.
  domain::Outcome arrive(std::uint64_t id, std::uint64_t tenant) {
    domain::Request request;
    request.id = units::RequestId(id);
    request.tenant = units::TenantId(tenant);
    request.footprint = {Tokens(10), Tokens(10), cost::certain(Tokens(10))};
    const auto decisions = pool.step(domain::Arrived{request}, Instant(0));
    const auto* end = std::get_if<domain::End>(&decisions.back());
    return end != nullptr ? end->outcome : domain::Outcome::kCompleted;
  }
};

pool::PoolConfig tenants_with_one_request(std::size_t count) {
  pool::PoolConfig config = small_world("vllm-v1", 1).pool;
  config.tenants.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    config.tenants[i].id = units::TenantId(i);
    config.tenants[i].limits.in_flight = 1;
  }
  return config;
}

// A new configuration brings its tenants and limits; what runs goes on and still counts.
TEST(RoutingPool, FollowsANewConfiguration) {
  Served served(tenants_with_one_request(1));
  EXPECT_EQ(served.arrive(1, 0), domain::Outcome::kCompleted);
  EXPECT_EQ(served.arrive(2, 0), domain::Outcome::kRejectedQuota);
  EXPECT_EQ(served.arrive(3, 1), domain::Outcome::kRejectedInvalid);
  pool::PoolConfig next = tenants_with_one_request(2);
  next.tenants[0].limits.in_flight = 2;
  ASSERT_TRUE(served.pool.reconfigure(next));
  EXPECT_EQ(served.arrive(4, 0), domain::Outcome::kCompleted);
  EXPECT_EQ(served.arrive(5, 0), domain::Outcome::kRejectedQuota);
  EXPECT_EQ(served.arrive(6, 1), domain::Outcome::kCompleted);
  EXPECT_EQ(served.pool.live_requests().size(), 3u);
}

// Another model or fewer tenants need another pool: nothing changes.
TEST(RoutingPool, RefusesAnotherPool) {
  Served served(tenants_with_one_request(2));
  EXPECT_FALSE(served.pool.reconfigure(tenants_with_one_request(1)));
  pool::PoolConfig other = tenants_with_one_request(2);
  other.models.emplace_back(1u);
  EXPECT_FALSE(served.pool.reconfigure(other));
  EXPECT_EQ(served.arrive(1, 1), domain::Outcome::kCompleted);
}

void expect_kept_invariants(const std::string& policy, std::uint64_t seed) {
  const sim::World world = small_world(policy, seed);
  invariants::PoolOracle oracle(world.pool);
  sim::Simulator simulator(world, random_arrivals(seed, 200), {"m"});
  std::int64_t ends = 0;
  simulator.observe([&](const pool::Scheduler& pool, const domain::Event& event,
                        const std::vector<domain::Decision>& decisions, Instant now) {
    for (const auto& found : oracle.check_step(now, event, decisions, invariants::view_of(pool))) {
      if (found.invariant == invariants::Invariant::kS1Memory) continue;
      ADD_FAILURE() << policy << " seed " << seed << ": " << found.sentence;
    }
    ends += std::count_if(decisions.begin(), decisions.end(), [](const auto& decision) {
      return std::holds_alternative<domain::End>(decision);
    });
  });
  simulator.run();
  EXPECT_EQ(ends, 200) << policy << " seed " << seed;
  EXPECT_EQ(oracle.alive(), 0u);
}

class EveryPolicy : public testing::TestWithParam<std::string> {};

// No invariant of the pool breaks in a random world, but for the ledger's own bound on memory (S1),
// which routers without an admission do not promise; and each request has one end.
TEST_P(EveryPolicy, KeepsThePoolInvariants) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_kept_invariants(GetParam(), seed);
}

// The same world and seed give the same decisions.
TEST_P(EveryPolicy, IsDeterministic) {
  const auto digest = [&] {
    return sim::Simulator(small_world(GetParam(), 7), random_arrivals(7, 150), {"m"}).run().digest;
  };
  EXPECT_EQ(digest(), digest());
}

std::vector<std::string> combinations() {
  std::vector<std::string> all;
  for (const std::string& engine : engine_names()) {
    if (engine != "tidegate") all.push_back(engine);
  }
  for (const std::string& placement : placement_names()) {
    if (placement != "tidegate") all.push_back("vllm-v1/" + placement);
    if (placement != "tidegate") all.push_back("tidegate/" + placement);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Baselines, EveryPolicy, testing::ValuesIn(combinations()),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace tidegate::baselines
