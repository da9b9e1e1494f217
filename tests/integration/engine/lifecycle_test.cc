// One try, one end: doubled, foreign and impossible submits, and the last word on everything.
#include <gtest/gtest.h>

#include "bed.h"

namespace tidegate::engines::llama {
namespace {

// A prompt that is not what its footprint says, or tokens that do not exist, fail at once and leave
// the engine as it was.
TEST(Lifecycle, RefusesWorkThatDoesNotFitItsAssign) {
  Bed bed({});
  bed.submit({.request = 1, .work = greedy({1, 1 << 20})});
  bed.submit({.request = 2, .work = greedy({-1})});
  bed.submit({.request = 3, .work = greedy({})});
  for (const std::uint64_t request : {1U, 2U, 3U}) {
    ASSERT_TRUE(bed.story(request).failed);
    EXPECT_EQ(bed.story(request).failed->reason, domain::Reason::kEngineError);
  }
  bed.submit({.request = 4, .work = greedy(prompt_of("hi")), .max_output = 3});
  bed.run();
  EXPECT_TRUE(bed.story(4).finished);
}

// What can never fit is refused with that reason.
TEST(Lifecycle, RefusesWhatNeverFits) {
  Bed bed({.kv_tokens = 256});
  bed.submit({.request = 1, .work = greedy(std::vector<Token>(200, 5)), .max_output = 100});
  ASSERT_TRUE(bed.story(1).failed);
  EXPECT_EQ(bed.story(1).failed->reason, domain::Reason::kNeverFits);
}

// A doubled submit changes nothing about the try that runs.
TEST(Lifecycle, ADoubledSubmitIsDropped) {
  Bed bed({});
  const auto work = greedy(prompt_of("hi"));
  bed.submit({.request = 1, .work = work, .max_output = 8});
  bed.run_until_produced(1, 3);
  bed.submit({.request = 1, .work = work, .max_output = 8});
  bed.run();
  EXPECT_EQ(bed.story(1).accepted, 1);
  EXPECT_EQ(bed.story(1).after_end, 0);
  EXPECT_EQ(bed.story(1).produced, bed.story(1).finished->usage.output.value());
}

// Aborting what waits, runs, or does not exist: one end each, and none for the last.
TEST(Lifecycle, AbortsInAnyState) {
  Bed bed({.max_sequences = 1});
  for (const std::uint64_t request : {1U, 2U}) {
    bed.submit({.request = request, .work = greedy(prompt_of("hi")), .max_output = 50});
  }
  bed.run_until_produced(1, 2);
  bed.abort(2);
  bed.abort(1);
  bed.abort(1);
  bed.abort(99);
  bed.run();
  for (const std::uint64_t request : {1U, 2U}) {
    ASSERT_TRUE(bed.story(request).finished);
    EXPECT_EQ(bed.story(request).finished->outcome, domain::Outcome::kCancelled);
    EXPECT_EQ(bed.story(request).after_end, 0);
  }
  EXPECT_FALSE(bed.story(99).ended());
}

}  // namespace
}  // namespace tidegate::engines::llama
