// Callers who are refused and ask again, and forecasts of lengths that are wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "one_service.h"

namespace tidegate::sim {
namespace {

using ::testing::Each;
using ::testing::SizeIs;
using units::Instant;
using units::Tokens;

// One server whose tenant may ask once a minute; a prompt of a thousand ticks is served in 10 ms.
World one_a_minute() {
  World world = servers(1);
  world.pool.tenants[0].limits.requests_per_min = 1;
  world.horizon = units::seconds(600);
  return world;
}

WorldRequest asked(std::uint64_t id, Instant at, const Retries& retries) {
  WorldRequest made;
  made.request.id = units::RequestId(id);
  made.request.arrival = at;
  made.request.promise.first_token_due = at + units::seconds(5);
  made.request.footprint.prompt = Tokens(1'000);
  made.request.footprint.max_output = Tokens(1);
  made.output = Tokens(1);
  made.retries = retries;
  return made;
}

// Every request that comes to the pool, in order.
std::vector<domain::Request> come(const World& world, std::vector<WorldRequest> requests) {
  std::vector<domain::Request> seen;
  std::size_t next = 0;
  Simulator simulator(world,
                      [&]() -> std::optional<WorldRequest> {
                        if (next == requests.size()) return std::nullopt;
                        return requests[next++];
                      },
                      {"m"});
  simulator.observe([&](const auto&, const domain::Event& event, const auto&, Instant) {
    if (const auto* arrived = std::get_if<domain::Arrived>(&event)) {
      seen.push_back(arrived->request);
    }
  });
  simulator.run();
  return seen;
}

Instant at_second(std::int64_t second) {
  return Instant(0) + units::seconds(second);
}

// A refused caller asks again after its wait as often as it may, says how often it has, and each
// time gets a promise from then on; who was served does not come back.
TEST(Callers, ComeBackAfterTheirWait) {
  const Retries patient{.most = 3, .wait = units::seconds(10)};
  const auto seen =
      come(one_a_minute(), {asked(1, at_second(0), patient), asked(2, at_second(1), patient)});
  ASSERT_THAT(seen, SizeIs(5));
  const std::int64_t seconds[] = {0, 1, 11, 21, 31};
  const int tries[] = {0, 0, 1, 2, 3};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(seen[i].arrival, at_second(seconds[i])) << i;
    EXPECT_EQ(seen[i].caller_retries, tries[i]) << i;
    EXPECT_EQ(seen[i].promise.first_token_due, seen[i].arrival + units::seconds(5)) << i;
  }
}

// Without a wait of its own it comes when it was told to, which is when the minute is over, and
// then it is served.
TEST(Callers, ComeBackWhenTheyAreTold) {
  const Retries obedient{.most = 3, .wait = std::nullopt};
  const auto seen =
      come(one_a_minute(), {asked(1, at_second(0), obedient), asked(2, at_second(1), obedient)});
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_GE(seen[2].arrival, at_second(60));
}

// What can never be served is not asked for again, nor what its caller has no time for.
TEST(Callers, GiveUpWhatCannotHelp) {
  const Retries eager{.most = 3, .wait = units::seconds(10)};
  WorldRequest endless = asked(1, at_second(0), eager);
  endless.request.footprint.prompt = Tokens(2'000'000'000);
  EXPECT_THAT(come(one_a_minute(), {endless}), SizeIs(1));
  WorldRequest leaving = asked(2, at_second(1), eager);
  leaving.leaves = at_second(15);
  EXPECT_THAT(come(one_a_minute(), {asked(1, at_second(0), eager), leaving}), SizeIs(3));
}

// A biased forecast is that many times what it would be, and stays a length that can be.
TEST(Forecasts, AreWrongByTheBias) {
  World world = one_a_minute();
  world.known_lengths = true;
  WorldRequest request = asked(1, at_second(0), {});
  request.request.footprint.max_output = Tokens(100);
  request.output = Tokens(40);
  const auto lengths = [&](units::Ppm bias) {
    world.length_bias = bias;
    return come(world, {request}).at(0).footprint.output.lengths;
  };
  EXPECT_THAT(lengths(units::Ppm(500'000)), Each(Tokens(20)));
  EXPECT_THAT(lengths(units::Ppm(3'000'000)), Each(Tokens(100)));
  EXPECT_THAT(lengths(units::Ppm(1)), Each(Tokens(1)));
}

}  // namespace
}  // namespace tidegate::sim
