// Speed augmentation through the simulator, against what a single server in order of arrival does
// by Lindley's recursion: there a faster server makes nobody later, so that the least speed at
// which a share of the promises is kept can be found by trying all.

#include "sim/speed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "baselines/registry.h"
#include "bounds/speed.h"
#include "one_service.h"

namespace tidegate::sim {
namespace {

// A dozen requests whose first token is promised within `patience`.
std::vector<WorldRequest> random_dozen(std::uint64_t seed, units::Nanos patience) {
  Crowd crowd({{150, [](units::Prng& prng) { return 0.01 * exponential_variate(prng); }}}, seed);
  std::vector<WorldRequest> dozen;
  for (int i = 0; i < 12; ++i) {
    dozen.push_back(*crowd());
    domain::Request& request = dozen.back().request;
    request.promise.first_token_due = request.arrival + patience;
  }
  return dozen;
}

World one_promised_server() {
  World world = servers(1);
  world.pool.classes[0].best_effort = false;
  world.pool.classes[0].ttft = kYear;
  const auto policy = baselines::policy("fcfs");
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  world.horizon = units::seconds(10);
  return world;
}

double simulated(const std::vector<WorldRequest>& requests, double speed) {
  const Arrivals arrivals = [&requests, next = std::size_t{0}]() mutable {
    return next < requests.size() ? std::optional(requests[next++]) : std::nullopt;
  };
  Simulator simulator(with_speed(one_promised_server(), speed), arrivals, {"m"});
  return simulator.run().totals.attainment_offered();
}

double by_lindley(const std::vector<WorldRequest>& requests, double speed) {
  double kept = 0;
  double free_at = 0;
  for (const WorldRequest& each : requests) {
    const auto arrival = static_cast<double>(each.request.arrival.ns());
    const auto ticks = static_cast<double>(each.request.footprint.prompt.value());
    free_at = std::max(free_at, arrival) + ticks * static_cast<double>(kTick.value()) / speed;
    kept += free_at <= static_cast<double>(each.request.promise.first_token_due.ns()) ? 1 : 0;
  }
  return kept / static_cast<double>(requests.size());
}

// The speed that is found through the simulator is the least one, up to the tolerance, of all that
// were tried by hand; and nothing is found where none of them is enough.
TEST(Speed, SearchFindsTheLeastThatKeepsTheTarget) {
  const double tolerance = 0.01;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto requests = random_dozen(seed, units::milliseconds(seed % 2 == 0 ? 5 : 15));
    const double target = seed % 3 == 0 ? 1 : 0.7;
    const auto speed = bounds::speed_to_match([&](double s) { return simulated(requests, s); },
                                              {.target = target, .tolerance = tolerance});
    double least = 1;
    while (least <= 8 && by_lindley(requests, least) < target) least += tolerance / 4;
    ASSERT_EQ(speed.has_value(), least <= 8) << "seed " << seed;
    if (!speed) continue;
    EXPECT_NEAR(*speed, least, 1.5 * tolerance) << "seed " << seed;
    found += *speed > 1 ? 1 : 0;
  }
  EXPECT_GT(found, 20);
}

// A faster engine keeps at least as many promises, in order of arrival on one server.
TEST(Speed, FasterIsNeverWorseInOrderOfArrival) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto requests = random_dozen(seed, units::milliseconds(10));
    double before = 0;
    for (const double speed : {0.5, 1.0, 1.5, 2.0, 4.0, 8.0}) {
      const double kept = simulated(requests, speed);
      EXPECT_GE(kept, before) << "seed " << seed << " speed " << speed;
      before = kept;
    }
  }
}

// Speed 1 changes nothing.
TEST(Speed, OneIsTheSameWorld) {
  const World world = servers(2);
  const World same = with_speed(world, 1);
  ASSERT_EQ(same.engines.size(), world.engines.size());
  for (std::size_t i = 0; i < world.engines.size(); ++i) {
    EXPECT_EQ(same.engines[i].true_law, world.engines[i].true_law);
    EXPECT_EQ(same.engines[i].batch.spec.law, world.engines[i].batch.spec.law);
  }
}

}  // namespace
}  // namespace tidegate::sim
