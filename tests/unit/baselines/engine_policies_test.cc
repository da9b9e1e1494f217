// Step traces computed by hand from the published descriptions. Blocks hold 16 tokens; a step of
// the small engine may have 512.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "baselines/registry.h"
#include "units/prng.h"
#include "world.h"

namespace tidegate::baselines {
namespace {

using batch::testing::Shape;
using batch::testing::World;
using units::Tokens;

World world(const std::string& policy_name, std::int64_t sequences, std::int64_t blocks,
            std::int64_t step_tokens = 512) {
  batch::BatchConfig config = batch::testing::small_config(sequences, blocks);
  config.spec.limits.max_step_tokens = Tokens(step_tokens);
  return World(config, policy(policy_name)->engine);
}

std::int64_t tokens_of(const World& world, std::uint64_t id) {
  const batch::Row* row = world.row(id);
  return row == nullptr ? 0 : row->count.value();
}

// vLLM V1: a budget of 100 tokens takes a prompt of 60 and the first 40 of the next; then the first
// one's token comes before the chunk of the second, which comes before a waiting prompt.
TEST(VllmV1, SpendsOneBudgetOnRunningThenWaiting) {
  World w = world("vllm-v1", 8, 100, 100);
  w.submit(1, {.prompt = 60});
  w.submit(2, {.prompt = 130});
  w.submit(3, {.prompt = 20});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 60);
  EXPECT_EQ(tokens_of(w, 2), 40);
  EXPECT_EQ(tokens_of(w, 3), 0);
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 90);
  EXPECT_EQ(tokens_of(w, 3), 9);
}

// vLLM V1: two sequences of one block each grow into a third block; of three blocks one is left,
// the first takes it, and the last of the running list is preempted and computed again.
TEST(VllmV1, PreemptsTheLastOfTheRunningList) {
  World w = world("vllm-v1", 8, 3);
  w.submit(1, {.prompt = 16, .max_output = 16});
  w.submit(2, {.prompt = 16, .max_output = 16});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 16);
  EXPECT_EQ(tokens_of(w, 2), 16);
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 0);
  EXPECT_EQ(w.view(2).phase, batch::Phase::kWaiting);
  EXPECT_EQ(w.view(2).preemptions, 1);
  EXPECT_EQ(w.scheduler().counters().preemptions, 1);
  w.run();
  EXPECT_EQ(w.tokens.at(1).size(), 16u);
  EXPECT_EQ(w.tokens.at(2).size(), 16u);
}

// vLLM V1: a prompt starts only when there are free blocks for all of it, not for its first chunk
// only; four of the ten blocks are held, the second prompt needs seven.
TEST(VllmV1, StartsOnlyWhatFitsAsAWhole) {
  World w = world("vllm-v1", 8, 10, 64);
  w.submit(1, {.prompt = 60, .max_output = 4});
  w.submit(2, {.prompt = 100, .max_output = 4});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 60);
  EXPECT_EQ(tokens_of(w, 2), 0);
  EXPECT_EQ(w.view(2).phase, batch::Phase::kWaiting);
}

// vLLM V1 fills the batch up to max_num_seqs, whatever was promised to whom.
TEST(VllmV1, FillsAllSequences) {
  World w = world("vllm-v1", 256, 1'000, 2'048);
  for (std::uint64_t id = 1; id <= 300; ++id) w.submit(id, {.prompt = 8, .max_output = 4});
  w.step();
  EXPECT_EQ(w.plan().rows.size(), 256u);
  EXPECT_EQ(w.plan().shape.prefill_tokens, 256 * 8);
}

// Prefill first: while a prompt waits and fits, streams stand still; then all take a token.
TEST(PrefillFirst, StopsStreamsForPrompts) {
  World w = world("fcfs", 8, 100);
  w.submit(1, {.prompt = 32});
  w.step();
  w.submit(2, {.prompt = 48});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 0);
  EXPECT_EQ(tokens_of(w, 2), 48);
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 1);
}

// Prefill first does not cut prompts: of 300 and 250 tokens one step of 512 holds only the first.
TEST(PrefillFirst, ComputesWholePrompts) {
  World w = world("fcfs", 8, 100);
  w.submit(1, {.prompt = 300});
  w.submit(2, {.prompt = 250});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 300);
  EXPECT_EQ(tokens_of(w, 2), 0);
}

// Sarathi: one token of each stream, and the rest of 512 for the prompt in front: 511, then 189
// with the start of the next one, 322.
TEST(Sarathi, PutsDecodesFirstAndCutsPromptsToTheBudget) {
  World w = world("sarathi", 8, 200, 2'048);
  w.submit(1, {.prompt = 16});
  w.step();
  w.submit(2, {.prompt = 700});
  w.submit(3, {.prompt = 700});
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 511);
  EXPECT_EQ(tokens_of(w, 3), 0);
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 189);
  EXPECT_EQ(tokens_of(w, 3), 322);
}

// EDF: the prompt with the earlier deadline goes first, also before one that has begun; without a
// promise last.
TEST(SarathiEdf, ServesPromptsByDeadline) {
  World w = world("edf", 8, 400, 2'048);
  Shape late{.prompt = 1'000};
  late.promise.first_token_due = units::Instant(0) + units::seconds(60);
  Shape soon{.prompt = 600};
  soon.promise.total_due = units::Instant(0) + units::seconds(30);
  w.submit(1, {.prompt = 400});
  w.submit(2, late);
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 0);
  EXPECT_EQ(tokens_of(w, 2), 512);
  w.submit(3, soon);
  w.step();
  EXPECT_EQ(tokens_of(w, 3), 512);
  EXPECT_EQ(tokens_of(w, 2), 0);
  w.step();
  EXPECT_EQ(tokens_of(w, 3), 88);
  EXPECT_EQ(tokens_of(w, 2), 424);
}

Shape of_tenant(std::uint64_t tenant, std::int64_t prompt) {
  Shape shape{.prompt = prompt, .max_output = 4};
  shape.tenant = units::TenantId(tenant);
  return shape;
}

// VTC: tenant 1 floods; tenant 2 comes when tenant 1's counter is at 12 (a prompt of 10, one
// token), is lifted to that, and takes turns from then on: one sequence at a time, each counts 18.
TEST(Vtc, ServesTenantsInTurnHoweverMuchOneAsks) {
  World w = world("vtc", 1, 100);
  for (std::uint64_t id = 1; id <= 3; ++id) w.submit(id, of_tenant(1, 10));
  w.step();
  w.submit(4, of_tenant(2, 10));
  w.submit(5, of_tenant(2, 10));
  w.run();
  const auto first = [&](std::uint64_t id) { return w.tokens.at(id).front(); };
  EXPECT_LT(first(1), first(4));
  EXPECT_LT(first(4), first(2));
  EXPECT_LT(first(2), first(5));
  EXPECT_LT(first(5), first(3));
}

// VTC: a tenant that was away is lifted to the smallest counter of those who wait, so it cannot
// claim what it did not use. Tenant 1 got 10 requests' worth before tenant 2 came; then they share
// one to one, not ten to one.
TEST(Vtc, LiftsWhoWasAway) {
  World w = world("vtc", 1, 100);
  for (std::uint64_t id = 1; id <= 10; ++id) w.submit(id, of_tenant(1, 10));
  while (!w.ended(9)) w.step();
  for (std::uint64_t id = 11; id <= 14; ++id) w.submit(id, of_tenant(1, 10));
  for (std::uint64_t id = 21; id <= 24; ++id) w.submit(id, of_tenant(2, 10));
  while (!w.ended(22)) w.step();
  EXPECT_TRUE(w.ended(11));
  EXPECT_FALSE(w.ended(12));
}

// Two tenants' random requests, and what each of them got.
struct TwoTenants {
  World world;
  std::vector<std::uint64_t> tenant_of = std::vector<std::uint64_t>(1);  // by request, from 1 on
  std::vector<std::int64_t> prompt_of = std::vector<std::int64_t>(1);

  void submit(std::uint64_t id, units::Prng& prng) {
    const std::uint64_t tenant = 1 + prng.below(2);
    Shape shape = of_tenant(tenant, tenant == 1 ? prng.between(1, 20) : prng.between(60, 100));
    shape.max_output = shape.expected_output = prng.between(1, 40);
    world.submit(id, shape);
    tenant_of.push_back(tenant);
    prompt_of.push_back(shape.prompt);
  }
  bool backlogged(std::uint64_t tenant) {
    const auto all = world.scheduler().sequences();
    return std::any_of(all.begin(), all.end(), [&](const auto& view) {
      return view.phase == batch::Phase::kWaiting && tenant_of[view.ref.request.value()] == tenant;
    });
  }
  std::int64_t service(std::uint64_t tenant) const {
    std::int64_t sum = 0;
    for (const auto& [id, times] : world.tokens) {
      if (tenant_of[id] != tenant) continue;
      sum += prompt_of[id] + 2 * static_cast<std::int64_t>(times.size());
    }
    return sum;
  }
};

// VTC's bound (theorem 4.4 there): while two tenants have requests waiting, the service that they
// get differs by at most 2 max(w_p L_prompt, w_q M), M being the tokens that fit the memory.
TEST(Vtc, KeepsBackloggedTenantsWithinItsBound) {
  constexpr std::int64_t kMemory = std::int64_t{40} * 16;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    units::Prng prng(seed);
    TwoTenants both{world("vtc", 8, 40, 128)};
    for (std::uint64_t id = 1; id <= 120; ++id) both.submit(id, prng);
    while (both.backlogged(1) && both.backlogged(2)) {
      both.world.step();
      ASSERT_LE(std::abs(both.service(1) - both.service(2)),
                2 * std::max<std::int64_t>(100, 2 * kMemory));
    }
  }
}

Shape interactive(std::int64_t prompt, units::Nanos ttft, units::Nanos pace) {
  Shape shape{.prompt = prompt};
  shape.promise.first_token_due = units::Instant(0) + ttft;
  shape.promise.token_pace = pace;
  return shape;
}

// QoServe's hybrid order: at 1 ms a token, 2,000 tokens due in 10 s (12 s) come after 100 tokens
// due in 11 s (11.1 s), and before 100 due in 13 s; earliest deadline first would start with them.
TEST(QoServe, OrdersByDeadlineAndLength) {
  World w = world("qoserve", 8, 400, 2'048);
  w.submit(1, interactive(2'000, units::seconds(10), units::milliseconds(50)));
  w.submit(2, interactive(100, units::seconds(11), units::milliseconds(50)));
  w.submit(3, interactive(100, units::seconds(13), units::milliseconds(50)));
  w.step();
  EXPECT_EQ(tokens_of(w, 2), 100);
  EXPECT_EQ(tokens_of(w, 1), 1'948);
  EXPECT_EQ(tokens_of(w, 3), 0);
}

// QoServe's dynamic chunk: a stream that has seconds of slack allows the largest chunk.
TEST(QoServe, TakesTheLargestChunkWhereStreamsAreAhead) {
  World w = world("qoserve", 8, 1'000, 4'096);
  w.submit(1, interactive(16, units::seconds(3), units::milliseconds(50)));
  w.step();
  w.submit(2, interactive(10'000, units::seconds(60), units::seconds(1)));
  w.step();
  EXPECT_EQ(tokens_of(w, 1), 1);
  EXPECT_EQ(tokens_of(w, 2), 2'500);
}

// QoServe's dynamic chunk: a step beside a stream ends before the stream's next token is due, but
// uses that time up to the guard of the law (a tenth, and what little it has learned).
TEST(QoServe, ChunksByTheTightestSlack) {
  World w = world("qoserve", 8, 1'000, 4'096);
  w.submit(1, interactive(16, units::milliseconds(100), units::milliseconds(10)));
  w.step();
  w.advance(units::milliseconds(70));
  w.submit(2, interactive(10'000, units::seconds(60), units::seconds(1)));
  const units::Nanos slack = units::Instant(0) + units::milliseconds(110) - w.now();
  const units::Nanos step = batch::testing::step_time(w.config(), w.compose());
  EXPECT_LE(step, slack);
  EXPECT_GE(step, slack * 8 / 10);
}

// QoServe's relegation: a prompt that cannot make its deadline even alone gives way to all that
// can, and is still served in the end.
TEST(QoServe, RelegatesWhatIsLateAnyway) {
  World w = world("qoserve", 1, 400, 2'048);
  w.advance(units::seconds(5));
  w.submit(1, interactive(100, units::seconds(1), units::milliseconds(50)));
  w.submit(2, interactive(100, units::seconds(60), units::milliseconds(50)));
  w.submit(3, interactive(100, units::seconds(90), units::milliseconds(50)));
  w.run();
  EXPECT_LT(w.tokens.at(2).front(), w.tokens.at(1).front());
  EXPECT_LT(w.tokens.at(3).front(), w.tokens.at(1).front());
  EXPECT_EQ(w.outcomes.at(1), domain::Outcome::kCompleted);
}

class EveryEngine : public testing::TestWithParam<std::string> {};

// When a prompt is due for those who order by it.
using DueOf = std::function<units::Nanos(units::Prng& prng, std::int64_t prompt)>;

// 25 requests of random sizes in a tight memory.
void keep_the_books(const std::string& policy_name, std::uint64_t seed, const DueOf& due) {
  units::Prng prng(seed);
  World w = world(policy_name, prng.between(1, 6), prng.between(8, 30), prng.between(16, 96));
  std::vector<std::int64_t> outputs;
  for (std::uint64_t id = 1; id <= 25; ++id) {
    const std::int64_t output = prng.between(1, 40);
    Shape shape{.prompt = prng.between(1, 80),
                .max_output = output,
                .expected_output = output,
                .family = static_cast<std::uint64_t>(prng.between(0, 2)),
                .shared = prng.between(0, 40)};
    shape.promise.first_token_due = w.now() + due(prng, shape.prompt);
    w.submit(id, shape);
    outputs.push_back(output);
    if (prng.between(0, 2) > 0) w.step();
  }
  w.run();
  for (std::uint64_t id = 1; id <= 25; ++id) {
    ASSERT_TRUE(w.ended(id)) << "seed " << seed << ", request " << id;
    ASSERT_EQ(w.outcomes.at(id), domain::Outcome::kCompleted);
    ASSERT_EQ(static_cast<std::int64_t>(w.tokens.at(id).size()), outputs[id - 1]);
  }
  ASSERT_EQ(w.scheduler().kv().referenced(), units::Blocks(0));
}

// Whatever comes, under tight memory: the engine can perform every plan, the block table adds up
// after each step, every request ends exactly once, completed and with all of its tokens.
TEST_P(EveryEngine, KeepsTheBooksAndEndsEveryRequestOnce) {
  const DueOf never = [](units::Prng&, std::int64_t) { return units::Nanos::max(); };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) keep_the_books(GetParam(), seed, never);
}

// The same in whatever order deadlines put the prompts: at random, and the shortest first, so that
// those who hold memory are again and again not the next in line.
TEST_P(EveryEngine, EndsEveryRequestOnceInAnyOrderOfDeadlines) {
  const DueOf random = [](units::Prng& prng, std::int64_t) {
    return units::milliseconds(prng.between(1, 20'000));
  };
  const DueOf shortest_first = [](units::Prng&, std::int64_t prompt) {
    return units::seconds(60 * prompt);
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    keep_the_books(GetParam(), seed, random);
    keep_the_books(GetParam(), seed, shortest_first);
  }
}

INSTANTIATE_TEST_SUITE_P(Baselines, EveryEngine, testing::ValuesIn(engine_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tidegate::baselines
