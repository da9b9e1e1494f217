// The fairness that VTC promises, measured from outside over the simulator: what two tenants with
// requests waiting are served between any two moments differs by at most 2 U,
// U = max(w_p x longest prompt, w_q x most tokens in a batch).
// Source: Sheng et al., Fairness in Serving Large Language Models, OSDI 2024, theorem 4.4.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "baselines/engine/vtc.h"
#include "baselines/registry.h"
#include "sim/simulator.h"
#include "units/prng.h"

namespace tidegate::sim {
namespace {

constexpr std::int64_t kBlockTokens = 16;
constexpr int kRequestsEach = 60;

// Enough: whatever is running fits to its end, as the theorem supposes. Short: it does not, so that
// the engine preempts.
enum class Memory : std::uint8_t { kEnough, kShort };

struct Crowding {
  World world;
  std::vector<WorldRequest> requests;  // in order of arrival
  std::int64_t bound = 0;              // 2 U
};

World vtc_world(std::uint64_t seed) {
  World world;
  world.seed = seed;
  world.pool.classes.resize(1);
  world.pool.classes[0].best_effort = true;
  world.pool.models = {units::ModelId(0)};
  EngineModel engine;
  engine.true_law.base_fs = 5'000'000'000'000;
  engine.true_law.per_token_fs = {100'000'000'000, 100'000'000'000, 100'000'000'000};
  engine.batch.spec.law = engine.true_law;
  engine.batch.spec.calibrated = true;
  engine.batch.retained_slots = 0;
  world.engines = {engine};
  world.physics.telemetry_period = units::seconds(10);
  world.horizon = units::seconds(10'000);
  return world;
}

// Two to four tenants of unlike sizes who ask for everything at the start, one after the other.
// Where memory is short, what a batch can still produce takes the place of the tokens that fit in
// one: that is what the proof needs of them.
Crowding random_crowding(std::uint64_t seed, Memory memory) {
  units::Prng prng(seed);
  Crowding made{vtc_world(seed), {}, 0};
  World& world = made.world;
  const std::int64_t most_prompt = prng.between(1, 1'000);
  const std::int64_t most_output = prng.between(100, 500);
  const std::int64_t blocks_each = (most_prompt + most_output) / kBlockTokens + 1;
  const bool enough = memory == Memory::kEnough;
  const std::int64_t sequences = enough ? prng.between(2, 32) : 4;
  const std::int64_t blocks = enough ? sequences * blocks_each : blocks_each + blocks_each / 4;
  // A step takes any prompt whole, so that a prompt is served in the step that starts it.
  world.engines[0].batch.spec.limits = {units::Blocks(blocks), sequences, units::Tokens(1'000'000),
                                        units::Tokens(blocks * kBlockTokens)};
  std::int64_t longest = 0;
  const auto tenants = static_cast<std::uint64_t>(prng.between(2, 4));
  for (std::uint64_t tenant = 0; tenant < tenants; ++tenant) {
    world.pool.tenants.push_back({});
    world.pool.tenants.back().id = units::TenantId(tenant);
    const std::int64_t own_prompt = prng.between(1, most_prompt);
    const std::int64_t own_output = prng.between(1, most_output);
    for (int i = 0; i < kRequestsEach; ++i) {
      WorldRequest each;
      each.request.id = units::RequestId(made.requests.size() + 1);
      each.request.tenant = units::TenantId(tenant);
      each.request.footprint.prompt = units::Tokens(prng.between(1, own_prompt));
      each.output = units::Tokens(prng.between(1, own_output));
      each.request.footprint.max_output = each.output;
      longest = std::max(longest, each.request.footprint.prompt.value());
      made.requests.push_back(each);
    }
  }
  const std::int64_t batch = enough ? blocks * kBlockTokens : sequences * most_output;
  made.bound =
      2 * std::max(baselines::Vtc::kPromptWeight * longest, baselines::Vtc::kOutputWeight * batch);
  return made;
}

// What every tenant was served, and the widest difference between two of them over any stretch of
// time in which both had requests waiting.
class Watch {
 public:
  explicit Watch(const Crowding& crowding)
      : crowding_(&crowding),
        tenants_(crowding.world.pool.tenants.size()),
        started_(crowding.requests.size()),
        served_(tenants_),
        waiting_(tenants_),
        low_(tenants_ * tenants_),
        high_(tenants_ * tenants_) {
    for (const WorldRequest& each : crowding.requests) waiting_[tenant_of(each)] += 1;
  }

  void produced(units::RequestId id, std::int64_t tokens, units::Instant now) {
    if (now != now_) close_step();
    now_ = now;
    const WorldRequest& request = crowding_->requests[id.value() - 1];
    const std::size_t tenant = tenant_of(request);
    if (!started_[id.value() - 1]) {
      started_[id.value() - 1] = true;
      waiting_[tenant] -= 1;
      served_[tenant] += baselines::Vtc::kPromptWeight * request.request.footprint.prompt.value();
    }
    served_[tenant] += baselines::Vtc::kOutputWeight * tokens;
  }

  std::int64_t widest() const { return widest_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t preemptions = 0;

 private:
  static std::size_t tenant_of(const WorldRequest& request) {
    return static_cast<std::size_t>(request.request.tenant.value());
  }

  // The differences as they are after all of a step.
  void close_step() {
    for (std::size_t a = 0; a < tenants_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (waiting_[a] == 0 || waiting_[b] == 0) continue;
        const std::size_t pair = a * tenants_ + b;
        low_[pair] = std::min(low_[pair], served_[a] - served_[b]);
        high_[pair] = std::max(high_[pair], served_[a] - served_[b]);
        widest_ = std::max(widest_, high_[pair] - low_[pair]);
        steps_ += 1;
      }
    }
  }

  const Crowding* crowding_;
  std::size_t tenants_;
  std::vector<bool> started_;
  std::vector<std::int64_t> served_, waiting_;
  std::vector<std::int64_t> low_, high_;  // of a pair's difference so far; 0 at the start
  std::int64_t widest_ = 0;
  std::int64_t steps_ = 0;  // looked at, over pairs
  units::Instant now_;
};

Watch run(const Crowding& crowding, const char* name) {
  Watch watch(crowding);
  World world = crowding.world;
  const auto policy = baselines::policy(name);
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  Simulator simulator(world,
                      [&crowding, next = std::size_t{0}]() mutable -> std::optional<WorldRequest> {
                        if (next == crowding.requests.size()) return std::nullopt;
                        return crowding.requests[next++];
                      },
                      {"m"});
  simulator.observe([&](const auto&, const domain::Event& event, const auto&, units::Instant now) {
    const auto* tokens = std::get_if<domain::TokensProduced>(&event);
    if (tokens != nullptr) watch.produced(tokens->ref.request, tokens->count.value(), now);
  });
  watch.preemptions = simulator.run().totals.preemptions;
  return watch;
}

// Under VTC no two tenants who wait are ever served more than the bound apart.
TEST(VtcBound, TenantsThatWaitAreServedAlike) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Crowding crowding = random_crowding(seed, Memory::kEnough);
    const Watch watch = run(crowding, "vtc");
    ASSERT_GT(watch.steps(), 10) << "seed " << seed;
    ASSERT_LE(watch.widest(), crowding.bound) << "seed " << seed;
    ASSERT_EQ(watch.preemptions, 0) << "seed " << seed;
  }
}

// Also where memory is short: who was preempted waits its tenant's turn and is not forgotten.
TEST(VtcBound, HoldsBesidePreemption) {
  std::int64_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Crowding crowding = random_crowding(seed, Memory::kShort);
    const Watch watch = run(crowding, "vtc");
    ASSERT_LE(watch.widest(), crowding.bound) << "seed " << seed;
    preemptions += watch.preemptions;
  }
  EXPECT_GT(preemptions, 1'000);
}

// The bound says something: in order of arrival, a tenant that came first leaves the others further
// behind than that in some of the same worlds.
TEST(VtcBound, OrderOfArrivalBreaksIt) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Crowding crowding = random_crowding(seed, Memory::kEnough);
    broken += run(crowding, "fcfs").widest() > crowding.bound ? 1 : 0;
  }
  EXPECT_GT(broken, 5);
}

}  // namespace
}  // namespace tidegate::sim
