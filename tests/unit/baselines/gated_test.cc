#include "baselines/pool/gated.h"

#include <gtest/gtest.h>

#include "cost/length_forecast.h"
#include "engines.h"

namespace tidegate::baselines {
namespace {

using units::Tokens;

domain::Request of_class(std::uint64_t id) {
  domain::Request request;
  request.service_class = units::ClassId(id);
  return request;
}

// Eight slots and two classes: two are reserved for each, four are open. Class 0 gets six and no
// more; class 1 gets the two that nobody else may take, at once.
TEST(Slots, ReservesForEachClass) {
  Engines e;
  e.add(0, 0);
  e.specs[0].limits.max_sequences = 8;
  Slots rule(2);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(rule.route(of_class(0), e.targets), 0u) << i;
    rule.sent(of_class(0), 0);
  }
  EXPECT_EQ(rule.route(of_class(0), e.targets), std::nullopt);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(rule.route(of_class(1), e.targets), 0u) << i;
    rule.sent(of_class(1), 0);
  }
  EXPECT_EQ(rule.route(of_class(1), e.targets), std::nullopt);
  rule.ended(of_class(0), 0);
  EXPECT_EQ(rule.route(of_class(1), e.targets), 0u);
  EXPECT_NE(rule.lane(of_class(0)), rule.lane(of_class(1)));
}

// With a third class there is one slot for each and five are open, also for what already runs.
TEST(Slots, FollowsANewConfiguration) {
  Engines e;
  e.add(0, 0);
  e.specs[0].limits.max_sequences = 8;
  Slots rule(2);
  for (int i = 0; i < 6; ++i) rule.sent(of_class(0), 0);
  pool::PoolConfig config;
  config.classes.resize(3);
  rule.reconfigured(config);
  EXPECT_EQ(rule.route(of_class(0), e.targets), std::nullopt);
  EXPECT_EQ(rule.route(of_class(2), e.targets), 0u);
}

// Two engines of 1,600 tokens count as 3,200: 700 more fit beside 2,500, 701 do not, and it makes
// no difference that neither engine has so much room. An empty pool takes anything.
TEST(PoolTokens, AddsUpThePool) {
  Engines e;
  e.add(1, 0);
  e.add(1, 0);
  e.targets[0].promised = e.targets[1].promised = Tokens(1'250);
  PoolTokens rule;
  domain::Request request;
  request.footprint = {Tokens(600), Tokens(200), cost::certain(Tokens(100))};
  EXPECT_TRUE(rule.route(request, e.targets).has_value());
  request.footprint.prompt = Tokens(601);
  EXPECT_EQ(rule.route(request, e.targets), std::nullopt);
  e.targets[0].promised = e.targets[1].promised = Tokens(0);
  e.targets[0].in_flight = e.targets[1].in_flight = 0;
  request.footprint.prompt = Tokens(10'000);
  EXPECT_TRUE(rule.route(request, e.targets).has_value());
}

}  // namespace
}  // namespace tidegate::baselines
