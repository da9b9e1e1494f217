// The simulator against queueing theory. Every expected value is a closed form from the literature;
// the run lengths follow from the variance of what is estimated, so that 1 % is at least three
// standard errors: the tests hold for about any seeds, not for lucky ones.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "baselines/registry.h"
#include "one_service.h"

namespace tidegate::sim {
namespace {

constexpr double kServiceSeconds = 0.01;

double fixed(units::Prng& /*prng*/) {
  return kServiceSeconds;
}
double exponential(units::Prng& prng) {
  return kServiceSeconds * exponential_variate(prng);
}
// One in five takes three times the mean, the others half of it.
double two_sizes(units::Prng& prng) {
  return kServiceSeconds * (open_unit(prng) < 0.2 ? 3 : 0.5);
}

Deciders deciders(const char* name) {
  const auto policy = baselines::policy(name);
  return {policy->engine, policy->pool, policy->own_batching};
}

// What was drawn, and how long it waited. A formula is asked about the rates and the services that
// were drawn, not those that were meant: the difference would be more than half of the variance.
struct Sample {
  double per_s = 0;
  double service_s = 0;
  double squared_s2 = 0;  // mean square of the services
  double wait_s = 0;

  double load() const { return per_s * service_s; }
};

// By class, over the seeds.
std::vector<Sample> sample(World world, const std::vector<Stream>& streams, int seeds) {
  std::vector<Sample> samples(world.pool.classes.size());
  std::vector<double> counts(samples.size());
  for (int seed = 1; seed <= seeds; ++seed) {
    world.seed = static_cast<std::uint64_t>(seed);
    for (const Served& each : serve(world, Crowd(streams, world.seed * 77))) {
      if (!each.served) continue;
      Sample& own = samples[each.service_class.value()];
      const double service = static_cast<double>(each.service.value()) / 1e9;
      own.service_s += service;
      own.squared_s2 += service * service;
      own.wait_s += static_cast<double>(each.wait.value()) / 1e9;
      counts[each.service_class.value()] += 1;
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& own = samples[i];
    own.per_s = counts[i] / (static_cast<double>(world.horizon.value()) / 1e9 * seeds);
    own.service_s /= counts[i];
    own.squared_s2 /= counts[i];
    own.wait_s /= counts[i];
  }
  return samples;
}

// M/D/1 under the production pool: mean wait = rho / (2 (1 - rho)) x service (Pollaczek and
// Khinchine).
TEST(QueueingTheory, FixedServicesWaitAsMD1) {
  World world = servers(1);
  world.horizon = units::seconds(8'000);
  const Sample all = sample(world, {{0.6 / kServiceSeconds, fixed}}, 2).front();
  const double expected = all.load() / (2 * (1 - all.load())) * kServiceSeconds;
  EXPECT_NEAR(all.wait_s, expected, expected * 0.01);
}

// M/M/1 under first come, first served: mean wait = rho / (1 - rho) x mean service (Erlang).
TEST(QueueingTheory, ExponentialServicesWaitAsMM1) {
  World world = servers(1);
  world.deciders = deciders("fcfs");
  world.horizon = units::seconds(20'000);
  const Sample all = sample(world, {{0.5 / kServiceSeconds, exponential}}, 2).front();
  const double expected = all.load() / (1 - all.load()) * all.service_s;
  EXPECT_NEAR(all.wait_s, expected, expected * 0.01);
}

// One server serves in order of arrival without a pause: every wait, to the nanosecond, is
// Lindley's max(0, wait of the one before + its service - the gap between the two).
TEST(QueueingTheory, EveryWaitFollowsLindleysRecursion) {
  for (const char* policy : {"fcfs", "vllm-v1", "sarathi", "tidegate"}) {
    World world = servers(1);
    world.deciders = deciders(policy);
    world.horizon = units::seconds(200);
    const auto all = serve(world, Crowd({{0.8 / kServiceSeconds, exponential}}, 5));
    ASSERT_GT(all.size(), 15'000U);
    for (std::size_t i = 1; i < all.size() && all[i].served; ++i) {
      const units::Nanos left =
          all[i - 1].wait + all[i - 1].service - (all[i].arrival - all[i - 1].arrival);
      ASSERT_EQ(all[i].wait, std::max(units::Nanos(0), left)) << policy << " " << i;
    }
  }
}

// M/G/1 with two classes, the first of which goes first but interrupts nobody, under the production
// pool: wait of class k = R / ((1 - s_(k-1)) (1 - s_k)), R = sum of rate x mean square of service
// / 2, s_k = load of the classes up to k (Cobham, Operations Research 1954).
TEST(QueueingTheory, PriorityClassesWaitAsCobhamSays) {
  World world = servers(1);
  domain::ServiceClass promised = world.pool.classes[0];
  promised.best_effort = false;
  promised.ttft = kYear;
  world.pool.classes.insert(world.pool.classes.begin(), promised);
  world.pool.classes[1].id = units::ClassId(1);
  world.pool.policy.drip = units::Ppm(0);  // its floor for best effort is not in the formula
  world.pool.policy.ahead = 0;
  world.horizon = units::seconds(15'000);
  const auto all = sample(world,
                          {{0.25 / kServiceSeconds, exponential, units::ClassId(0), true},
                           {0.25 / kServiceSeconds, two_sizes, units::ClassId(1)}},
                          2);
  const double residual = (all[0].per_s * all[0].squared_s2 + all[1].per_s * all[1].squared_s2) / 2;
  const double first = residual / (1 - all[0].load());
  const double second = first / (1 - all[0].load() - all[1].load());
  EXPECT_NEAR(all[0].wait_s, first, first * 0.01);
  EXPECT_NEAR(all[1].wait_s, second, second * 0.01);
}

// Erlang's loss formula B(c, a) by its recursion.
double erlang_b(int servers, double load) {
  double blocked = 1;
  for (int i = 1; i <= servers; ++i) blocked = load * blocked / (i + load * blocked);
  return blocked;
}

// A tenant that may have as many requests in flight as there are engines, and waits for nothing, is
// refused as Erlang's loss system refuses, whatever the services' distribution is (insensitivity:
// Sevast'yanov 1957).
TEST(QueueingTheory, RefusalsAtTheInFlightLimitAreErlangs) {
  constexpr int kServers = 3;
  World world = servers(kServers);
  world.pool.tenants[0].limits.in_flight = kServers;
  world.pool.tenants[0].limits.queued = 0;
  world.horizon = units::seconds(4'000);
  for (const auto service : {fixed, exponential, two_sizes}) {
    double came = 0;
    double refused = 0;
    double offered_s = 0;
    for (const Served& each : serve(world, Crowd({{2 / kServiceSeconds, service}}, 9))) {
      came += 1;
      refused += each.refused ? 1 : 0;
      offered_s += static_cast<double>(each.service.value()) / 1e9;
      ASSERT_TRUE(!each.served || each.wait == units::Nanos(0));
    }
    const double load = offered_s / (static_cast<double>(world.horizon.value()) / 1e9);
    const double expected = erlang_b(kServers, load);
    EXPECT_NEAR(refused / came, expected, expected * 0.01);
  }
}

}  // namespace
}  // namespace tidegate::sim
