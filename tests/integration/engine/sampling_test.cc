// Parameters that belong to one request: stop strings, seeds, log probabilities, biases.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "bed.h"
#include "engines/llama/sampler.h"

namespace tidegate::engines::llama {
namespace {

const char* const kQuestion = "Explain continuous batching.";

Story run_alone(const std::shared_ptr<const Generation>& work, std::int64_t max_output) {
  Bed bed({});
  bed.submit({.request = 1, .work = work, .max_output = max_output});
  bed.run();
  return bed.story(1);
}

// Every stop string that occurs in the answer, wherever the tokens divide it, ends the text just
// before it, with reason "stop"; the try ends with it.
TEST(Sampling, StopStringsCutAcrossTokens) {
  const Story whole = run_alone(greedy(prompt_of(kQuestion)), 40);
  ASSERT_GT(whole.text.size(), 30U);
  for (std::size_t from = 3; from + 7 < whole.text.size(); from += 5) {
    auto work = greedy(prompt_of(kQuestion));
    work->stop = {whole.text.substr(from, 7)};
    const Story cut = run_alone(work, 40);
    EXPECT_EQ(cut.text, whole.text.substr(0, whole.text.find(work->stop[0])));
    EXPECT_EQ(cut.finish, FinishReason::kStop);
    EXPECT_LT(cut.produced, whole.produced + 1);
    EXPECT_EQ(cut.finished->outcome, domain::Outcome::kCompleted);
  }
}

// The limit ends the try with reason "length" and exactly so many tokens.
TEST(Sampling, TheLimitIsExact) {
  const Story story = run_alone(greedy(prompt_of(kQuestion)), 5);
  EXPECT_EQ(story.produced, 5);
  EXPECT_EQ(story.tokens.size(), 5U);
  EXPECT_EQ(story.finish, FinishReason::kLength);
  EXPECT_EQ(story.finished->usage.output, units::Tokens(5));
}

std::shared_ptr<Generation> seeded(std::uint32_t seed) {
  auto work = greedy(prompt_of("Tell me a story."));
  work->sampling.temperature = 1.2F;
  work->sampling.seed = seed;
  return work;
}

// Equal seeds give equal answers, and twenty different seeds do not all give the same one.
TEST(Sampling, SeedsDecide) {
  const Story first = run_alone(seeded(7), 20);
  EXPECT_EQ(run_alone(seeded(7), 20).tokens, first.tokens);
  bool differs = false;
  for (std::uint32_t seed = 8; seed < 28 && !differs; ++seed) {
    differs = run_alone(seeded(seed), 20).tokens != first.tokens;
  }
  EXPECT_TRUE(differs);
}

// The n choices of one request run side by side from one prompt, each with its own seed, and each
// gives what it gives alone.
TEST(Sampling, ChoicesAreIndependent) {
  Bed bed({});
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto work = seeded(100 + i);
    bed.submit(
        {.request = i + 1, .work = work, .max_output = 12, .prefix = chain_of(work->prompt)});
  }
  bed.run();
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bed.story(i + 1).tokens, run_alone(seeded(100 + i), 12).tokens);
  }
}

// A bias of minus infinity bars a token; one of plus 100 makes it certain.
TEST(Sampling, BiasesBarAndForce) {
  const Story plain = run_alone(greedy(prompt_of(kQuestion)), 1);
  auto barred = greedy(prompt_of(kQuestion));
  barred->sampling.logit_bias = {{plain.tokens[0], -INFINITY}};
  EXPECT_NE(run_alone(barred, 1).tokens[0], plain.tokens[0]);
  auto forced = greedy(prompt_of(kQuestion));
  forced->sampling.logit_bias = {{300, 100.0F}};
  EXPECT_EQ(run_alone(forced, 6).tokens, std::vector<Token>(6, 300));
}

// A strong frequency penalty keeps a forced token from being drawn for ever.
TEST(Sampling, PenaltiesCountWhatWasProduced) {
  auto work = greedy(prompt_of(kQuestion));
  work->sampling.logit_bias = {{300, 100.0F}};
  work->sampling.frequency_penalty = 40.0F;
  const std::vector<Token> tokens = run_alone(work, 8).tokens;
  EXPECT_EQ(tokens[0], 300);
  EXPECT_LT(std::count(tokens.begin(), tokens.end(), 300), 8);
}

// Log probabilities over the whole vocabulary add up to 1, are sorted, and ties fall to the lower
// token: computed by hand for logits 0, ln 3, 0.
TEST(Sampling, LogprobsAreThoseOfSoftmax) {
  const std::vector<float> logits = {0.0F, std::log(3.0F), 0.0F};
  const TokenLogprob result = logprobs(logits, 2, 3);
  EXPECT_NEAR(result.chosen.logprob, std::log(0.2), 1e-6);
  ASSERT_EQ(result.top.size(), 3U);
  EXPECT_EQ(result.top[0].token, 1);
  EXPECT_NEAR(result.top[0].logprob, std::log(0.6), 1e-6);
  EXPECT_EQ(result.top[1].token, 0);
  EXPECT_EQ(result.top[2].token, 2);
}

// Of a greedy try the chosen token is the likeliest one; probabilities of the top do not pass 1;
// the bytes of the chosen ones spell the text.
TEST(Sampling, LogprobsFitTheText) {
  auto work = greedy(prompt_of(kQuestion));
  work->logprobs = 5;
  const Story story = run_alone(work, 20);
  std::string spelled;
  for (const TokenLogprob& entry : story.logprobs) {
    ASSERT_EQ(entry.top.size(), 5U);
    EXPECT_EQ(entry.top[0].token, entry.chosen.token);
    double sum = 0;
    for (const Alternative& other : entry.top) sum += std::exp(static_cast<double>(other.logprob));
    EXPECT_LE(sum, 1.0 + 1e-5);
    EXPECT_GE(sum, std::exp(static_cast<double>(entry.chosen.logprob)) - 1e-9);
    spelled += entry.chosen.bytes;
  }
  EXPECT_EQ(spelled, story.text);
}

}  // namespace
}  // namespace tidegate::engines::llama
