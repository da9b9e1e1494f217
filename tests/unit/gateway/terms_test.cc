#include "gateway/terms.h"

#include <gtest/gtest.h>

namespace tidegate::gateway {
namespace {

using units::milliseconds;
using units::seconds;

class Agree : public ::testing::Test {
 protected:
  Agree() {
    domain::ServiceClass chat;
    chat.id = units::ClassId(0);
    chat.name = "chat";
    chat.ttft = milliseconds(500);
    chat.tpot = milliseconds(50);
    domain::ServiceClass batch;
    batch.id = units::ClassId(1);
    batch.name = "batch";
    batch.best_effort = true;
    domain::ServiceClass gold;
    gold.id = units::ClassId(2);
    gold.name = "gold";
    gold.deadline = seconds(3);
    classes_ = {chat, batch, gold};
    tenant_.values.default_class = chat.id;
    tenant_.classes = {chat.id, batch.id};
  }
  units::Result<Terms> agree(const openai::Hints& hints, std::int32_t priority = 0) const {
    return gateway::agree({hints, priority}, tenant_, classes_);
  }
  std::vector<domain::ServiceClass> classes_;
  config::TenantConfig tenant_;
};

// Without hints the class's own times hold.
TEST_F(Agree, GivesTheClass) {
  const auto terms = agree({});
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->ttft, milliseconds(500));
  EXPECT_EQ(terms->tpot, milliseconds(50));
  EXPECT_FALSE(terms->deadline);
}

// Loosening is free; tightening goes down to the floor, and without a floor not at all.
TEST_F(Agree, MovesWithinWhatTheTenantMay) {
  openai::Hints hints;
  hints.ttft = seconds(2);
  hints.tpot = milliseconds(10);
  EXPECT_EQ(agree(hints)->ttft, seconds(2));
  EXPECT_EQ(agree(hints)->tpot, milliseconds(50));
  tenant_.tightest.tpot = milliseconds(20);
  EXPECT_EQ(agree(hints)->tpot, milliseconds(20));
}

// A time that the class does not promise is tightening too.
TEST_F(Agree, PromisesNothingNewWithoutAFloor) {
  openai::Hints hints;
  hints.deadline = seconds(1);
  EXPECT_FALSE(agree(hints)->deadline);
  tenant_.tightest.deadline = seconds(2);
  EXPECT_EQ(agree(hints)->deadline, seconds(2));
}

// Lower is more urgent: each step of priority doubles the class's time to the first token, each
// step below zero halves it, down to the tenant's floor; further than eight steps it goes no
// further.
TEST_F(Agree, PriorityMovesTheTime) {
  EXPECT_EQ(agree({}, 1)->ttft, seconds(1));
  EXPECT_EQ(agree({}, 3)->ttft, seconds(4));
  EXPECT_EQ(agree({}, 8)->ttft, seconds(128));
  EXPECT_EQ(agree({}, INT32_MAX)->ttft, seconds(128));
  EXPECT_EQ(agree({}, -1)->ttft, milliseconds(500));
  tenant_.tightest.ttft = milliseconds(200);
  EXPECT_EQ(agree({}, -1)->ttft, milliseconds(250));
  EXPECT_EQ(agree({}, INT32_MIN)->ttft, milliseconds(200));
  EXPECT_EQ(agree({}, 3)->tpot, milliseconds(50));
}

// A hint says the time exactly, so that priority has nothing left to say; best effort has no time.
TEST_F(Agree, PriorityYieldsToHints) {
  openai::Hints hints;
  hints.ttft = seconds(3);
  EXPECT_EQ(agree(hints, 2)->ttft, seconds(3));
  hints = {};
  hints.service_class = "batch";
  EXPECT_FALSE(agree(hints, 2)->ttft);
  tenant_.classes.emplace_back(2u);
  hints.service_class = "gold";
  EXPECT_EQ(agree(hints, 1)->deadline, seconds(6));
}

// A class must exist and be the tenant's; an objective that is no class is only a word.
TEST_F(Agree, ChoosesAmongTheTenantsClasses) {
  openai::Hints hints;
  hints.service_class = "batch";
  EXPECT_EQ(agree(hints)->service_class, units::ClassId(1));
  hints.service_class = "gold";
  const std::string of_others = agree(hints).error().message;
  hints.service_class = "silver";
  EXPECT_EQ(agree(hints).error().message, of_others);
  hints.service_class.clear();
  hints.objective = "no-such-class";
  EXPECT_EQ(agree(hints)->service_class, units::ClassId(0));
  hints.objective = "batch";
  EXPECT_EQ(agree(hints)->service_class, units::ClassId(1));
}

// A promise counts from the arrival; best effort promises nothing.
TEST_F(Agree, MakesPromises) {
  const units::Instant arrival(1'000);
  const domain::Promise promise = agree({})->promise(arrival);
  EXPECT_EQ(promise.first_token_due, arrival + milliseconds(500));
  EXPECT_EQ(promise.token_pace, milliseconds(50));
  openai::Hints hints;
  hints.service_class = "batch";
  EXPECT_TRUE(agree(hints)->promise(arrival).best_effort());
}

}  // namespace
}  // namespace tidegate::gateway
