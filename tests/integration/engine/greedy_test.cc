// What is scheduled together must come out as if each had run alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bed.h"

namespace tidegate::engines::llama {
namespace {

const std::vector<std::string> kQuestions = {
    "hi, who are you?",
    "what is tidegate",
    "Explain continuous batching.",
    "What does TTFT mean?",
    "Tell me a story about a harbor, a gate and three boats that all want to come in at night.",
    "what's a kv cache?",
};

// With a share of the memory for each sequence, as is the default, and with one pool for all.
class Greedy : public ::testing::TestWithParam<bool> {
 protected:
  Bed::Options with(Bed::Options options) const {
    options.kv_unified = GetParam();
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Memory, Greedy, ::testing::Bool(),
                         [](const auto& unified) { return unified.param ? "OnePool" : "Shares"; });

// Prompts of several lengths, submitted at once and cut into chunks beside running decodes, give
// token for token what plain llama.cpp gives for each alone.
TEST_P(Greedy, AMixedBatchEqualsEachAlone) {
  Bed bed(with({.max_sequences = 8, .kv_tokens = 4096, .max_step_tokens = 24}));
  std::vector<std::shared_ptr<Generation>> works;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    works.push_back(greedy(prompt_of(kQuestions[i])));
    bed.submit({.request = i + 1, .work = works.back(), .max_output = 40});
    if (i % 2 == 1) bed.run_until_produced(i, 3);
  }
  bed.run();
  for (std::size_t i = 0; i < works.size(); ++i) {
    SCOPED_TRACE(kQuestions[i]);
    expect_plain(bed.story(i + 1), *works[i], 40);
  }
}

// Sequences that end at different times beside others leave gaps, which later ones fill and longer
// ones move into; each still gives what it gives alone.
TEST_P(Greedy, GapsChangeNothing) {
  Bed bed(with({.max_sequences = 4, .kv_tokens = 4096, .max_step_tokens = 24}));
  const std::vector<std::int64_t> lengths = {3, 9, 40, 40, 5, 17, 2, 30, 11, 4};
  std::vector<std::shared_ptr<Generation>> works;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    works.push_back(greedy(prompt_of(kQuestions[i % kQuestions.size()])));
    bed.submit({.request = i + 1,
                .work = works.back(),
                .max_output = lengths[i],
                .prefix = chain_of(works.back()->prompt)});
  }
  bed.run();
  for (std::size_t i = 0; i < works.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i + 1));
    expect_plain(bed.story(i + 1), *works[i], lengths[i]);
  }
}

// Chunks of several prompts in one step, beside streams and without any, each give what they give
// alone, whatever their lengths are next to the kernels' tiles.
TEST_P(Greedy, ChunksSideBySideEqualEachAlone) {
  Bed bed(with({.max_sequences = 4, .kv_tokens = 4096, .max_step_tokens = 512}));
  std::vector<std::shared_ptr<Generation>> works;
  for (const int questions : {1, 2, 5, 8, 3, 13, 1, 4}) {
    std::string all;
    for (int i = 0; i < questions; ++i) all += kQuestions[static_cast<std::size_t>(i) % 6] + " ";
    works.push_back(greedy(prompt_of(all)));
    bed.submit({.request = works.size(), .work = works.back(), .max_output = 20});
  }
  bed.run();
  for (std::size_t i = 0; i < works.size(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i + 1));
    expect_plain(bed.story(i + 1), *works[i], 20);
  }
}

constexpr const char* kPreamble =
    "Here is what I know. A gate lets boats in, one after another, in a good order. The harbor has "
    "room for a few of them only. A boat that cannot be let in today is told so early. Now: ";

std::shared_ptr<Generation> after_preamble(const std::string& question) {
  return greedy(prompt_of(kPreamble + question));
}

Ask with_prefix(std::uint64_t request, const std::shared_ptr<Generation>& work) {
  return {.request = request, .work = work, .max_output = 30, .prefix = chain_of(work->prompt)};
}

// A prompt whose beginning was computed for another request takes it from there and says so, and
// its output is the same.
TEST_P(Greedy, ASharedPrefixChangesNothing) {
  const auto first = after_preamble("who waits?");
  const auto second = after_preamble("who goes first?");
  Bed bed(with({.kv_tokens = 4096}));
  bed.submit(with_prefix(1, first));
  bed.run();
  bed.submit(with_prefix(2, second));
  bed.run();
  expect_plain(bed.story(1), *first, 30);
  expect_plain(bed.story(2), *second, 30);
  EXPECT_EQ(bed.story(1).finished->usage.cached_prompt, units::Tokens(0));
  EXPECT_GE(bed.story(2).finished->usage.cached_prompt, units::Tokens(32));
}

// The same while the one that it is taken from still runs, for two at once, and again after many
// others were cached meanwhile.
TEST_P(Greedy, APrefixIsSharedWithWhatRunsAndWithWhatRan) {
  Bed bed(with({.max_sequences = 4, .kv_tokens = 4096}));
  const std::vector<std::string> questions = {"who waits?", "who goes first?", "why?", "when?"};
  std::vector<std::shared_ptr<Generation>> works;
  for (const std::string& question : questions) works.push_back(after_preamble(question));
  bed.submit(with_prefix(1, works[0]));
  bed.run_until_produced(1, 4);
  bed.submit(with_prefix(2, works[1]));
  bed.submit(with_prefix(3, works[2]));
  bed.run();
  for (std::uint64_t i = 0; i < 3; ++i) {
    bed.submit(with_prefix(10 + i, greedy(prompt_of(kQuestions[i]))));
    bed.run();
  }
  bed.submit(with_prefix(4, works[3]));
  bed.run();
  for (std::size_t i = 0; i < works.size(); ++i) {
    SCOPED_TRACE(questions[i]);
    expect_plain(bed.story(i + 1), *works[i], 30);
    EXPECT_EQ(bed.story(i + 1).finished->usage.cached_prompt >= units::Tokens(32), i > 0);
  }
}

// What is cached beside the shares never exceeds what it may: the least recent prompts go.
TEST(Cached, KeepsToItsBound) {
  Bed bed({.max_sequences = 2, .kv_tokens = 4096, .cached_tokens = 64});
  for (std::uint64_t i = 0; i < 6; ++i) {
    bed.submit(with_prefix(i + 1, greedy(prompt_of(kQuestions[i]))));
    bed.run();
    bed.step();
    EXPECT_LE(bed.held(), units::Tokens(64));
  }
  EXPECT_GT(bed.held(), units::Tokens(0));
}

// When memory runs out, tries are preempted and computed again later; their output does not show
// it. The forecast is far too low on purpose, so that too many are let in.
TEST(Preemption, ByRecomputeChangesNothing) {
  Bed bed({.max_sequences = 6, .kv_tokens = 256, .max_step_tokens = 64, .kv_unified = true});
  std::vector<std::shared_ptr<Generation>> works;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    works.push_back(greedy(prompt_of(kQuestions[i])));
    bed.submit({.request = i + 1, .work = works.back(), .max_output = 60, .predicted = 1});
  }
  bed.run();
  EXPECT_GT(bed.report().preemptions_total, 0);
  for (std::size_t i = 0; i < works.size(); ++i) {
    SCOPED_TRACE(kQuestions[i]);
    expect_plain(bed.story(i + 1), *works[i], 60);
  }
}

// An aborted try is gone within one step: nothing of it is held by the ledger or by llama.cpp, it
// says no more, and the others do not notice.
TEST_P(Greedy, AnAbortFreesAtOnceAndLeavesOthersAlone) {
  Bed bed(with({.kv_tokens = 2048}));
  std::vector<std::shared_ptr<Generation>> works;
  for (std::size_t i = 0; i < 3; ++i) {
    works.push_back(greedy(prompt_of(kQuestions[i + 2])));
    bed.submit({.request = i + 1, .work = works.back(), .max_output = 30});
  }
  bed.run_until_produced(2, 4);
  const units::Tokens before = bed.held();
  const std::size_t prompt = works[1]->prompt.size();
  bed.abort(2);
  const Story gone = bed.story(2);
  ASSERT_TRUE(gone.finished);
  EXPECT_EQ(gone.finished->outcome, domain::Outcome::kCancelled);
  bed.step();
  EXPECT_LE(bed.held(),
            before - units::Tokens(static_cast<std::int64_t>(prompt)) + units::Tokens(2));
  bed.run();
  EXPECT_EQ(bed.story(2).produced, gone.produced);
  expect_plain(bed.story(1), *works[0], 30);
  expect_plain(bed.story(3), *works[2], 30);
}

// When all is done, and no prefix was to be kept, neither the ledger nor llama.cpp holds anything.
TEST_P(Greedy, NothingIsLeftWhenAllIsDone) {
  Bed bed(with({.kv_tokens = 2048}));
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    bed.submit({.request = i + 1, .work = greedy(prompt_of(kQuestions[i])), .max_output = 10});
  }
  bed.run();
  bed.step();
  EXPECT_EQ(bed.report().kv_used, units::Blocks(0));
  EXPECT_EQ(bed.report().running, 0);
  EXPECT_EQ(bed.held(), units::Tokens(0));
}

}  // namespace
}  // namespace tidegate::engines::llama
