// Situations that broke other engines (the reports are named in brackets), scaled down to the demo
// model, on the real llama.cpp: the laws of tests/scenario/batch hold where memory, slots and rows
// are real. Time is counted in steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "bed.h"

namespace tidegate::engines::llama {
namespace {

using domain::Tier;
using units::milliseconds;
using units::Tokens;

constexpr units::Nanos kStep = milliseconds(5);

// A prompt of so many tokens, no two ids with a common beginning, and an answer that never ends by
// itself.
std::shared_ptr<Generation> endless(std::uint64_t id, std::int64_t prompt) {
  constexpr Token kAlways = 300;
  std::vector<Token> tokens;
  for (std::int64_t i = 0; i < prompt; ++i) {
    tokens.push_back(static_cast<Token>(400 + (id * 7 + static_cast<std::uint64_t>(i)) % 1'000));
  }
  auto work = greedy(tokens);
  work->sampling.logit_bias = {{kAlways, 100.0F}};
  return work;
}

// One pool of memory for all sequences.
Bed::Options one_pool(std::int32_t sequences, std::int32_t tokens) {
  Bed::Options options;
  options.max_sequences = sequences;
  options.kv_tokens = tokens;
  options.kv_unified = true;
  options.step_time = kStep;
  return options;
}

void expect_completed(const Bed& bed, std::uint64_t request, std::int64_t output) {
  const Story story = bed.story(request);
  ASSERT_TRUE(story.finished) << request;
  EXPECT_EQ(story.finished->outcome, domain::Outcome::kCompleted);
  EXPECT_EQ(story.produced, output);
}

// Four prompts fill nine tenths of the memory and a fifth arrives [vllm#37307]: it waits until one
// ends, nobody is evicted, and each of the four has a token in every step.
TEST(EngineScenario, LongPromptsFillTheMemory) {
  Bed bed(one_pool(8, 2'048));
  for (std::uint64_t id = 1; id <= 4; ++id) {
    bed.submit({.request = id, .work = endless(id, 430), .max_output = 40});
  }
  for (std::uint64_t id = 1; id <= 4; ++id) bed.run_until_produced(id, 1);
  ASSERT_FALSE(bed.story(1).ended());
  bed.submit({.request = 5, .work = endless(5, 430), .max_output = 10});
  while (!bed.story(1).ended()) {
    const std::int64_t before = bed.story(4).produced;
    bed.step();
    ASSERT_EQ(bed.story(4).produced, before + 1);
    ASSERT_EQ(bed.story(5).produced, 0);
  }
  bed.run();
  EXPECT_EQ(bed.report().preemptions_total, 0);
  for (std::uint64_t id = 1; id <= 4; ++id) expect_completed(bed, id, 40);
  expect_completed(bed, 5, 10);
}

// Streams decode while long prompts arrive without end [sglang#32549]: every stream has its next
// token within its pace, and prompts get on all the same.
TEST(EngineScenario, StreamsKeepTheirPaceUnderEndlessPrompts) {
  Bed bed(one_pool(12, 4'096));
  constexpr std::uint64_t kStreams = 6;
  domain::Promise promise;
  promise.first_token_due = bed.now() + milliseconds(500);
  promise.token_pace = kStep * 2;
  for (std::uint64_t id = 1; id <= kStreams; ++id) {
    bed.submit({.request = id, .work = endless(id, 20), .max_output = 100, .promise = promise});
  }
  for (std::uint64_t id = 1; id <= kStreams; ++id) bed.run_until_produced(id, 1);
  std::uint64_t next = 100;
  while (!bed.story(1).ended()) {
    for (; bed.report().waiting < 2; ++next) {
      bed.submit({.request = next,
                  .work = endless(next, 300),
                  .max_output = 1,
                  .tier = Tier::kBestEffort});
    }
    std::vector<std::int64_t> before;
    for (std::uint64_t id = 1; id <= kStreams; ++id) before.push_back(bed.story(id).produced);
    bed.step();
    bed.step();
    for (std::uint64_t id = 1; id <= kStreams; ++id) {
      const Story story = bed.story(id);
      ASSERT_TRUE(story.ended() || story.produced > before[id - 1]) << id;
    }
  }
  bed.run();
  EXPECT_GT(next, 103U);
  for (std::uint64_t id = 1; id <= kStreams; ++id) expect_completed(bed, id, 100);
  for (std::uint64_t id = 100; id < next; ++id) expect_completed(bed, id, 1);
}

struct Urgency {
  std::int64_t steps_to_first_token = 0;
  std::int64_t preemptions = 0;
};

// Best effort runs; an urgent request of a better tier comes, due in so many steps.
Urgency urgent_among(Bed& bed, std::int64_t prompt, std::int64_t due_in) {
  domain::Promise promise;
  promise.first_token_due = bed.now() + kStep * due_in;
  promise.token_pace = kStep * 20;
  bed.submit({.request = 99,
              .work = endless(99, prompt),
              .max_output = 5,
              .tier = Tier::kGuaranteed,
              .promise = promise});
  Urgency seen;
  for (; bed.story(99).produced == 0; ++seen.steps_to_first_token) bed.step();
  seen.preemptions = bed.report().preemptions_total;
  bed.run();
  return seen;
}

// Best effort holds every sequence and an urgent request arrives [vllm#40004]: one makes way, in
// time, and comes back.
TEST(EngineScenario, UrgentRequestFindsEverySequenceTaken) {
  Bed bed(one_pool(3, 2'048));
  for (std::uint64_t id = 1; id <= 3; ++id) {
    bed.submit(
        {.request = id, .work = endless(id, 30), .max_output = 120, .tier = Tier::kBestEffort});
  }
  for (std::uint64_t id = 1; id <= 3; ++id) bed.run_until_produced(id, 5);
  const Urgency urgent = urgent_among(bed, 30, 20);
  EXPECT_LE(urgent.steps_to_first_token, 20);
  EXPECT_EQ(urgent.preemptions, 1);
  EXPECT_EQ(bed.report().preemptions_total, 1);
  for (std::uint64_t id = 1; id <= 3; ++id) expect_completed(bed, id, 120);
}

// The same when it is memory that is taken [sglang#14872]: just enough make way.
TEST(EngineScenario, UrgentRequestFindsAllMemoryTaken) {
  Bed bed(one_pool(8, 1'024));
  for (std::uint64_t id = 1; id <= 4; ++id) {
    bed.submit(
        {.request = id, .work = endless(id, 140), .max_output = 90, .tier = Tier::kBestEffort});
  }
  for (std::uint64_t id = 1; id <= 4; ++id) bed.run_until_produced(id, 1);
  const Urgency urgent = urgent_among(bed, 420, 40);
  EXPECT_LE(urgent.steps_to_first_token, 40);
  EXPECT_EQ(urgent.preemptions, 1);
  for (std::uint64_t id = 1; id <= 4; ++id) expect_completed(bed, id, 90);
}

// One request may produce as much as the whole memory holds, small ones come beside it
// [TensorRT-LLM#2866]: all of them have begun while it has hardly started.
TEST(EngineScenario, AHugeMaximumSerialisesNobody) {
  Bed bed(one_pool(8, 2'048));
  bed.submit({.request = 1, .work = endless(1, 40), .max_output = 1'900, .predicted = 60});
  for (std::uint64_t id = 2; id <= 8; ++id) {
    bed.submit({.request = id, .work = endless(id, 40), .max_output = 20});
  }
  for (std::uint64_t id = 2; id <= 8; ++id) bed.run_until_produced(id, 1);
  EXPECT_LT(bed.story(1).produced, 20);
  bed.abort(1);
  bed.run();
  for (std::uint64_t id = 2; id <= 8; ++id) expect_completed(bed, id, 20);
}

// Most are cancelled in the middle of their prompts and while they wait, and no new work comes
// [TensorRT-LLM#12313, llama.cpp#24496, ik_llama#1929]: two steps later ledger and llama.cpp hold
// only the one who stayed, and its text is as if it had been alone.
TEST(EngineScenario, MassCancel) {
  Bed bed(one_pool(6, 2'048));
  const auto stays = greedy(prompt_of("Tell me a story about a harbor."));
  bed.submit({.request = 1, .work = stays, .max_output = 60});
  bed.run_until_produced(1, 3);
  for (std::uint64_t id = 2; id <= 20; ++id) {
    bed.submit({.request = id, .work = endless(id, 300), .max_output = 40});
  }
  bed.step();
  bed.step();
  ASSERT_GT(bed.report().running, 1);
  ASSERT_GT(bed.report().waiting, 10);
  for (std::uint64_t id = 2; id <= 20; ++id) bed.abort(id);
  bed.step();
  bed.step();
  EXPECT_EQ(bed.report().running, 1);
  EXPECT_EQ(bed.report().waiting, 0);
  const auto prompt = static_cast<std::int64_t>(stays->prompt.size());
  EXPECT_LE(bed.held(), Tokens(prompt + bed.story(1).produced));
  bed.run();
  for (std::uint64_t id = 2; id <= 20; ++id) {
    ASSERT_TRUE(bed.story(id).finished);
    EXPECT_EQ(bed.story(id).finished->outcome, domain::Outcome::kCancelled);
    EXPECT_EQ(bed.story(id).after_end, 0);
  }
  expect_plain(bed.story(1), *stays, 60);
}

// Requests with a cached prefix come without end, and one without [sglang#31954]: it has its first
// token in at most twice the steps that the slowest of those with it need.
TEST(EngineScenario, ACacheHotFloodDoesNotStarveAColdOne) {
  Bed bed(one_pool(4, 2'048));
  constexpr std::uint64_t kCold = 40;
  std::vector<std::int64_t> came(100, -1);
  std::vector<std::int64_t> waited(100, -1);
  const auto hot = endless(0, 200);
  std::uint64_t next = 1;
  for (std::int64_t step = 0; next < 80 || bed.report().running + bed.report().waiting > 0;
       ++step) {
    for (; next < 80 && bed.report().waiting < 6; ++next) {
      const auto work = next == kCold ? endless(next, 200) : hot;
      bed.submit(
          {.request = next, .work = work, .max_output = 8, .prefix = chain_of(work->prompt)});
      came[next] = step;
    }
    bed.step();
    for (std::uint64_t id = 1; id < next; ++id) {
      if (waited[id] < 0 && bed.story(id).produced > 0) waited[id] = step - came[id];
    }
  }
  ASSERT_GE(waited[kCold], 0);
  const std::int64_t cold = waited[kCold];
  waited[kCold] = 0;
  EXPECT_LE(cold, 2 * *std::max_element(waited.begin(), waited.end()));
  for (std::uint64_t id = 1; id < next; ++id) expect_completed(bed, id, 8);
}

// Memory runs out in the middle of streams that are longer than forecast [llama.cpp#23652]: one
// leaves, by policy the best-effort one, and the others have a token in every step until they end.
TEST(EngineScenario, MemoryRunsOutInTheMiddle) {
  Bed bed(one_pool(4, 512));
  for (std::uint64_t id = 1; id <= 3; ++id) {
    bed.submit({.request = id,
                .work = endless(id, 40),
                .max_output = 180,
                .predicted = 90,
                .tier = id == 2 ? Tier::kBestEffort : Tier::kWithinShare});
  }
  for (std::uint64_t id = 1; id <= 3; ++id) bed.run_until_produced(id, 1);
  while (!bed.story(1).ended() && !bed.story(3).ended()) {
    const std::int64_t before = bed.story(1).produced + bed.story(3).produced;
    bed.step();
    ASSERT_EQ(bed.story(1).produced + bed.story(3).produced, before + 2);
  }
  EXPECT_EQ(bed.report().preemptions_total, 1);
  EXPECT_LT(bed.story(2).produced, 180);
  bed.run();
  EXPECT_EQ(bed.report().preemptions_total, 1);
  for (std::uint64_t id = 1; id <= 3; ++id) expect_completed(bed, id, 180);
}

}  // namespace
}  // namespace tidegate::engines::llama
