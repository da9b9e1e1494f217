// Situations inside an engine that broke other schedulers, and what must happen here. The origin of
// each is a public report about another system, named in brackets.
#include <gtest/gtest.h>

#include "units/prng.h"
#include "world.h"

namespace tidegate::batch::testing {
namespace {

using domain::Outcome;
using domain::Tier;
using units::Blocks;
using units::Instant;
using units::milliseconds;
using units::Nanos;
using units::Prng;
using units::seconds;
using units::Tokens;

domain::Promise promise(Instant first, Nanos pace) {
  return {.first_token_due = first, .token_pace = pace, .total_due = Instant::never()};
}

Shape of(std::int64_t prompt, std::int64_t output, Tier tier = Tier::kWithinShare) {
  return {.prompt = prompt,
          .max_output = output,
          .expected_output = output,
          .family = 0,
          .shared = 0,
          .tier = tier};
}

// Long prompts fill 90 % of the memory and a fifth arrives [vllm#37307]: it waits, nobody is
// evicted for it, and the streams keep their pace.
TEST(EngineScenario, LongPromptsFillTheMemory) {
  BatchConfig config = small_config(16, 1'000);
  World world(config);
  for (std::uint64_t id = 1; id <= 4; ++id) world.submit(id, of(3'400, 400));
  while (world.tokens.size() < 4) world.step();
  ASSERT_TRUE(world.outcomes.empty());
  ASSERT_GT(world.scheduler().kv().referenced(), Blocks(850));
  world.submit(5, of(3'400, 50));
  while (world.outcomes.empty()) {
    world.step();
    ASSERT_EQ(world.view(5).slot, -1);
  }
  world.run();
  EXPECT_EQ(world.scheduler().counters().preemptions, 0);
  EXPECT_EQ(world.outcomes.at(5), Outcome::kCompleted);
  for (std::uint64_t id = 1; id <= 4; ++id) EXPECT_LE(world.max_gap(id), config.pace_max);
}

// 250 streams decode while long prompts arrive without end [sglang#32549]: every token of every
// stream is there when it is due, and prompts get on.
TEST(EngineScenario, StreamsKeepTheirPaceUnderEndlessPrompts) {
  BatchConfig config = small_config(260, 20'000);
  config.spec.limits.max_step_tokens = Tokens(2'048);
  config.spec.law.base_fs = 5'000'000'000'000;            // 5 ms
  config.spec.law.per_token_fs = {0, 0, 20'000'000'000};  // 20 us: 10 ms for 250 streams
  World world(config);
  world.thorough = false;
  constexpr std::uint64_t kStreams = 250;
  const Nanos pace = milliseconds(40);
  const Instant due = Instant() + milliseconds(500);
  for (std::uint64_t id = 1; id <= kStreams; ++id) {
    Shape shape = of(20, 200);
    shape.promise = promise(due, pace);
    world.submit(id, shape);
  }
  Prng prng(1);
  std::uint64_t next = 1'000;
  while (world.outcomes.count(1) == 0) {
    while (world.scheduler().report(world.now()).waiting < 4) {
      world.submit(next++, of(prng.between(3'000, 6'000), 1, Tier::kBestEffort));
    }
    world.step();
  }
  for (std::uint64_t id = 1; id <= kStreams; ++id) {
    for (std::size_t j = 0; j < world.tokens[id].size(); ++j) {
      ASSERT_LE(world.tokens[id][j], due + pace * static_cast<std::int64_t>(j));
    }
  }
  // Half of what the slack of the streams leaves is a modest demand: 200 steps of 40 ms, 15 of
  // which are theirs, 20 us a token.
  const std::int64_t room = 200 * (40'000 - 15'000) / 20;
  EXPECT_GT(world.scheduler().counters().prefill_tokens.value(), room / 2);
}

// Low-priority work holds every slot and an urgent request arrives [vllm#40004]: exactly one is
// preempted, it comes back and is completed.
TEST(EngineScenario, UrgentRequestFindsEverySlotTaken) {
  World world(small_config(4, 256));
  for (std::uint64_t id = 1; id <= 4; ++id) world.submit(id, of(50, 400, Tier::kBestEffort));
  while (world.tokens.size() < 4) world.step();
  Shape urgent = of(50, 5, Tier::kGuaranteed);
  urgent.promise = promise(world.now() + milliseconds(250), milliseconds(100));
  const Instant due = urgent.promise.first_token_due;
  world.submit(9, urgent);
  while (!world.ended(9)) world.step();
  EXPECT_EQ(world.scheduler().counters().preemptions, 1);
  EXPECT_LE(world.tokens.at(9)[0], due);
  world.run();
  for (std::uint64_t id = 1; id <= 4; ++id) EXPECT_EQ(world.tokens[id].size(), 400U);
}

// The same when it is memory that is taken [sglang#14872]: just enough leave.
TEST(EngineScenario, UrgentRequestFindsAllMemoryTaken) {
  World world(small_config(16, 128));  // 2048 tokens
  for (std::uint64_t id = 1; id <= 8; ++id) world.submit(id, of(150, 80, Tier::kBestEffort));
  while (world.tokens.size() < 8) world.step();
  Shape urgent = of(300, 80, Tier::kWithinShare);
  urgent.promise = promise(world.now() + milliseconds(600), milliseconds(100));
  world.submit(9, urgent);
  while (!world.ended(9)) world.step();
  EXPECT_LE(world.tokens.at(9)[0], urgent.promise.first_token_due);
  // Together they would come to 8 x 230 + 380 = 2220 tokens and 1986 may be promised; each that
  // leaves makes up for at most 230.
  EXPECT_GE(world.scheduler().counters().preemptions, 1);
  EXPECT_LE(world.scheduler().counters().preemptions, 2);
  world.run();
  for (std::uint64_t id = 1; id <= 8; ++id) EXPECT_EQ(world.tokens[id].size(), 80U);
}

// Nobody makes way for an equal [vllm#40004].
TEST(EngineScenario, NobodyIsPreemptedOnATie) {
  World world(small_config(4, 256));
  for (std::uint64_t id = 1; id <= 4; ++id) world.submit(id, of(50, 200, Tier::kWithinShare));
  while (world.tokens.size() < 4) world.step();
  Shape urgent = of(50, 5, Tier::kWithinShare);
  urgent.promise = promise(world.now() + milliseconds(100), milliseconds(100));
  world.submit(9, urgent);
  world.run();
  EXPECT_EQ(world.scheduler().counters().preemptions, 0);
}

// One request may produce a huge output, those around it are small [TensorRT-LLM#2866]: they do not
// wait for a reservation of its maximum.
TEST(EngineScenario, HugeMaximumSerialisesNobody) {
  World world(small_config(16, 512));  // 8192 tokens
  Shape huge = of(100, 8'000);
  huge.expected_output = 400;
  world.submit(1, huge);
  for (std::uint64_t id = 2; id <= 11; ++id) world.submit(id, of(100, 50));
  world.ends = [](const domain::AttemptRef& ref, std::int64_t produced) {
    return ref.request == units::RequestId(1) && produced == 500;
  };
  while (world.tokens.size() < 11) world.step();
  EXPECT_FALSE(world.ended(1));
  EXPECT_LT(world.view(1).produced, Tokens(50));
  world.run();
}

// Everything is cancelled, some of it in the middle of its prompt, some waiting, and no new work
// comes [TensorRT-LLM#12313, llama.cpp#24496]: all is free after the running step, and the one that
// was not cancelled goes on untouched.
TEST(EngineScenario, MassCancel) {
  World world(small_config(8, 256));
  world.submit(1, of(40, 100));
  world.step();
  for (std::uint64_t id = 2; id <= 40; ++id) world.submit(id, of(600, 100));
  world.step();
  world.compose();
  for (std::uint64_t id = 2; id <= 40; ++id) world.abort(id);
  world.perform();
  for (std::uint64_t id = 2; id <= 40; ++id) EXPECT_EQ(world.outcomes.at(id), Outcome::kCancelled);
  EXPECT_EQ(world.scheduler().sequences().size(), 1U);
  EXPECT_LE(world.scheduler().kv().referenced(), Blocks(4));
  world.run();
  EXPECT_EQ(world.tokens.at(1).size(), 100U);
}

// Of a flood that shares a prefix, every twentieth request does not.
Shape hot_or_cold(std::uint64_t id) {
  Shape shape = of(200, 20);
  if (id % 20 == 0) return shape;
  shape.family = 1;
  shape.shared = 192;
  return shape;
}

// Requests with a cached prefix come without end, and some without [sglang#31954]: the cold ones
// wait a bounded time.
TEST(EngineScenario, CacheHotFloodDoesNotStarveColdOnes) {
  World world(small_config(8, 512));
  world.thorough = false;
  std::uint64_t next = 1;
  while (world.now() < Instant() + seconds(20)) {
    for (; world.scheduler().report(world.now()).waiting < 12; ++next) {
      world.submit(next, hot_or_cold(next));
    }
    world.step();
  }
  world.run();
  ASSERT_GT(next, 400U);
  Nanos hot_worst(0);
  Nanos cold_worst(0);
  for (std::uint64_t id = 1; id < next; ++id) {
    Nanos& worst = id % 20 == 0 ? cold_worst : hot_worst;
    worst = std::max(worst, world.ttft(id));
  }
  EXPECT_LE(cold_worst, hot_worst * 2);
}

struct MixedTraffic {
  Nanos short_p99{0};
  Nanos long_worst{0};
};

// 600 requests, 30 tokens each but every hundredth of `long_prompt` tokens.
MixedTraffic mixed_traffic(std::int64_t long_prompt) {
  World world(small_config(32, 2'048));
  world.thorough = false;
  Prng prng(4);
  std::uint64_t id = 1;
  for (Instant next; id <= 600;) {
    while (next <= world.now() && id <= 600) {
      next = next + milliseconds(prng.between(50, 150));
      world.submit(id, of(id % 100 == 50 ? long_prompt : 30, 20));
      ++id;
    }
    if (!world.step()) world.advance(milliseconds(1));
  }
  world.run();
  MixedTraffic result;
  std::vector<Nanos> short_ones;
  for (std::uint64_t i = 1; i < id; ++i) {
    if (i % 100 == 50) {
      result.long_worst = std::max(result.long_worst, world.ttft(i));
    } else {
      short_ones.push_back(world.ttft(i));
    }
  }
  std::sort(short_ones.begin(), short_ones.end());
  result.short_p99 = short_ones[short_ones.size() * 99 / 100];
  return result;
}

// One long prompt in a hundred short ones [vllm#57413]: the short ones' first tokens come within
// 1.2 times (plus the one step that may be running) of when they would come without the long ones,
// and the long ones' within three times their own work.
TEST(EngineScenario, LongPromptsInShortTraffic) {
  const MixedTraffic without = mixed_traffic(30);
  const MixedTraffic with = mixed_traffic(4'000);
  EXPECT_LE(with.short_p99, without.short_p99 * 6 / 5 + milliseconds(50));
  EXPECT_LE(with.long_worst, seconds(6));  // 4000 tokens of 0.5 ms
}

// Outputs are three times longer than forecast, so memory runs out again and again
// [vllm#41951, sglang#26248]: those who were preempted come back, each a bounded number of times,
// and all complete.
TEST(EngineScenario, PreemptedWorkReturnsWithoutACycle) {
  BatchConfig config = small_config(16, 96);
  World world(config);
  for (std::uint64_t id = 1; id <= 40; ++id) {
    Shape shape = of(60, 240);
    shape.expected_output = 80;
    world.submit(id, shape);
  }
  std::int64_t most = 0;
  while (world.step()) {
    for (const SequenceView& view : world.scheduler().sequences()) {
      most = std::max(most, view.preemptions);
    }
  }
  EXPECT_GT(world.scheduler().counters().preemptions, 0);
  EXPECT_LE(most, config.max_preemptions);
  for (std::uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(world.tokens[id].size(), 240U);
  // Recomputing must stay a small part of the work: 40 x 300 tokens.
  EXPECT_LT(world.scheduler().counters().recomputed_tokens, Tokens(40 * 300 / 3));
}

// Memory runs out in the middle [llama.cpp#23652]: one leaves, by policy the best-effort one, and
// the others do not lose a token or a turn.
TEST(EngineScenario, MemoryRunsOutInTheMiddle) {
  World world(small_config(4, 40));  // 640 tokens
  for (std::uint64_t id = 1; id <= 3; ++id) {
    Shape shape = of(60, 200);
    shape.expected_output = 100;
    shape.tier = id == 2 ? Tier::kBestEffort : Tier::kWithinShare;
    world.submit(id, shape);
  }
  while (world.tokens.size() < 3) world.step();
  while (world.scheduler().counters().preemptions == 0) world.step();
  EXPECT_EQ(world.view(2).slot, -1);
  EXPECT_EQ(world.view(2).preemptions, 1);
  const Tokens kept = world.view(2).produced;
  world.run();
  EXPECT_EQ(world.scheduler().counters().preemptions, 1);
  EXPECT_GT(kept, Tokens(100));
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_EQ(world.tokens[id].size(), 200U);
}

}  // namespace
}  // namespace tidegate::batch::testing
