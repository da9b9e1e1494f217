#include "journal/text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_record.h"

namespace tidegate::journal {
namespace {

using units::Instant;
using units::RequestId;

// Law: a step reads as documented: instant and event, then one indented line for each decision.
TEST(Text, StepIsReadable) {
  Step step;
  step.now = Instant(1'500'000'000);
  step.event =
      domain::Finished{{RequestId(7), units::Attempt(1), units::EngineId(2), units::Epoch(4)},
                       domain::Outcome::kCompleted,
                       {units::Tokens(10), units::Tokens(0), units::Tokens(3)}};
  step.decisions = {domain::End{RequestId(7)}, domain::WakeAt{Instant::never()}};
  EXPECT_EQ(to_text(step),
            "1500ms finished ref=r7.1@e2.4 outcome=completed prompt=10 cached_prompt=0 output=3\n"
            "  -> end request=r7 outcome=completed reason=none full=none retry_after=0\n"
            "  -> wake_at at=never\n");
}

// Law: instants and spans are exact in the largest unit that divides them.
TEST(Text, TimesAreExact) {
  EXPECT_EQ(to_text(units::Nanos(0)), "0");
  EXPECT_EQ(to_text(units::Nanos(2'000'000'000)), "2s");
  EXPECT_EQ(to_text(units::Nanos(2'000'001'000)), "2000001us");
  EXPECT_EQ(to_text(units::Nanos(-7)), "-7ns");
  EXPECT_EQ(to_text(Instant(1'000)), "1us");
}

// Law: every event and decision is exactly one line, and different values read differently.
TEST(Text, OneLineEachAndNothingHidden) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    domain::Event event;
    RandomFiller(seed).fill(event);
    domain::Decision decision;
    RandomFiller(seed).fill(decision);
    EXPECT_EQ(std::ranges::count(to_text(event), '\n'), 0);
    EXPECT_EQ(std::ranges::count(to_text(decision), '\n'), 0);
  }
  domain::Hold hold;
  const std::string before = to_text(domain::Decision(hold));
  hold.position = 1;
  EXPECT_NE(to_text(domain::Decision(hold)), before);
}

// Law: a step plan names every trim, copy and row.
TEST(Text, PlanNamesItsRows) {
  batch::StepPlan plan;
  plan.number = 3;
  plan.trims = {{2, units::Tokens(5)}};
  plan.rows = {{{RequestId(1), units::Attempt(0), units::EngineId(0), units::Epoch(0)},
                4,
                units::Tokens(0),
                units::Tokens(16),
                false,
                true}};
  EXPECT_EQ(to_text(plan),
            "plan number=3 [trims slot=2 keep=5] [rows ref=r1.0@e0.0 slot=4 from=0 count=16 "
            "decode=no samples=yes] decodes=0 kv_tokens=0 prefill_tokens=0 attention=0 "
            "predicted=0");
}

}  // namespace
}  // namespace tidegate::journal
