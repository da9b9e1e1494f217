#include "batch/batch_scheduler.h"

#include <gtest/gtest.h>

#include "units/prng.h"
#include "world.h"

namespace tidegate::batch::testing {
namespace {

using domain::Outcome;
using domain::Reason;
using domain::Tier;
using units::Blocks;
using units::Instant;
using units::milliseconds;
using units::Nanos;
using units::Tokens;

domain::Promise promise(Instant first, Nanos pace) {
  return {.first_token_due = first, .token_pace = pace, .total_due = Instant::never()};
}

domain::AttemptRef ref(std::uint64_t id) {
  return {.request = units::RequestId(id), .attempt = {}, .engine = {}, .epoch = {}};
}

// A request is computed from its first prompt token to its last output token and counted exactly.
TEST(Scheduler, RunsOneRequestToItsEnd) {
  World world(small_config(4, 64));
  world.submit(1, {.prompt = 100, .max_output = 10});
  world.run();
  EXPECT_EQ(world.outcomes.at(1), Outcome::kCompleted);
  EXPECT_EQ(world.tokens.at(1).size(), 10U);
  EXPECT_EQ(world.usage.at(1), (domain::Usage{Tokens(100), Tokens(0), Tokens(10)}));
  EXPECT_EQ(world.scheduler().counters().prefill_tokens, Tokens(100));
  EXPECT_FALSE(world.scheduler().has_work());
}

// A stop seen by the engine ends the try with the tokens it had, before its maximum.
TEST(Scheduler, EndsWhereTheEngineStops) {
  World world(small_config(4, 64));
  world.ends = [](const domain::AttemptRef&, std::int64_t produced) { return produced == 3; };
  world.submit(1, {.prompt = 5, .max_output = 10});
  world.run();
  EXPECT_EQ(world.usage.at(1).output, Tokens(3));
}

// What can never fit, belongs to another life of the engine, or finds the queue full is refused at
// once, and takes nothing.
TEST(Scheduler, RefusesWhatItCannotTake) {
  BatchConfig config = small_config(1, 4);
  config.max_waiting = 1;
  World world(config);
  world.submit(1, {.prompt = 60, .max_output = 5});  // 65 tokens, 64 fit
  EXPECT_EQ(world.failed.at(1), Reason::kNeverFits);
  world.submit(2, {.prompt = 10, .max_output = 5});
  world.submit(3, {.prompt = 10, .max_output = 5});
  EXPECT_EQ(world.failed.at(3), Reason::kQueueFull);
  world.run();
  EXPECT_EQ(world.outcomes.at(2), Outcome::kCompleted);

  BatchScheduler other(config);
  domain::Assign assign = make_assign(4, {.prompt = 10}, 16);
  assign.ref.epoch = units::Epoch(7);
  other.submit(assign, Instant());
  const auto events = other.drain_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<domain::Failed>(events[0]).reason, Reason::kEngineLost);
}

// A try that is alive cannot be submitted again, and an unknown one cannot be aborted: both are
// counted and change nothing (S5).
TEST(Scheduler, DropsCallsThatNameNoTry) {
  BatchScheduler scheduler(small_config(2, 16));
  const domain::Assign assign = make_assign(1, {.prompt = 10}, 16);
  scheduler.submit(assign, Instant());
  EXPECT_EQ(scheduler.drain_events().size(), 1U);
  scheduler.submit(assign, Instant());
  scheduler.abort(ref(9), Instant());
  EXPECT_TRUE(scheduler.drain_events().empty());
  EXPECT_EQ(scheduler.counters().dropped_calls, 2);
  EXPECT_EQ(scheduler.sequences().size(), 1U);
}

// An abort of what the running step computes takes effect at its completion; of anything else at
// once. Either way the try ends once, cancelled, and holds nothing.
TEST(Scheduler, AbortsAtOnceOrWithTheRunningStep) {
  World world(small_config(1, 64));
  world.submit(1, {.prompt = 40, .max_output = 50});
  world.submit(2, {.prompt = 40, .max_output = 50});
  world.compose();
  ASSERT_NE(world.row(1), nullptr);
  world.abort(1);
  world.abort(2);
  EXPECT_FALSE(world.ended(1));
  EXPECT_EQ(world.outcomes.at(2), Outcome::kCancelled);
  world.perform();
  EXPECT_EQ(world.outcomes.at(1), Outcome::kCancelled);
  EXPECT_EQ(world.usage.at(1).output, Tokens(0));
  EXPECT_EQ(world.scheduler().kv().referenced(), Blocks(0));
  EXPECT_FALSE(world.scheduler().has_work());
}

// At equal tiers prompts are served by deadline, whatever the order of arrival; at equal deadlines
// the one with more work, hence less laxity, goes first.
TEST(Scheduler, ServesPromptsByDeadline) {
  BatchConfig config = small_config(1, 64);
  World world(config);
  const Instant base = world.now() + milliseconds(1'000);
  const auto submit = [&](std::uint64_t id, std::int64_t prompt, Nanos after) {
    world.submit(id, {.prompt = prompt,
                      .max_output = 1,
                      .expected_output = 1,
                      .family = 0,
                      .shared = 0,
                      .tier = Tier::kWithinShare,
                      .promise = promise(base + after, Nanos(0))});
  };
  submit(1, 20, milliseconds(300));
  submit(2, 20, milliseconds(100));
  submit(3, 20, milliseconds(200));
  submit(4, 40, milliseconds(200));
  world.run();
  EXPECT_LT(world.tokens.at(2)[0], world.tokens.at(4)[0]);
  EXPECT_LT(world.tokens.at(4)[0], world.tokens.at(3)[0]);
  EXPECT_LT(world.tokens.at(3)[0], world.tokens.at(1)[0]);
}

// A lower tier number goes first even with a later deadline.
TEST(Scheduler, ServesTiersStrictly) {
  World world(small_config(1, 64));
  const Instant soon = world.now() + milliseconds(200);
  world.submit(1, {.prompt = 20,
                   .max_output = 1,
                   .expected_output = 1,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kAboveShare,
                   .promise = promise(soon, Nanos(0))});
  world.submit(2, {.prompt = 20,
                   .max_output = 1,
                   .expected_output = 1,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kGuaranteed,
                   .promise = promise(soon + milliseconds(500), Nanos(0))});
  world.run();
  EXPECT_LT(world.tokens.at(2)[0], world.tokens.at(1)[0]);
}

// A request whose deadline has passed is not the most urgent of all: one that can still make it
// goes first.
TEST(Scheduler, ServesMissedOnesAfterThoseThatCanMakeIt) {
  World world(small_config(1, 64));
  world.advance(milliseconds(1'000));
  world.submit(1, {.prompt = 20,
                   .max_output = 1,
                   .expected_output = 1,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kWithinShare,
                   .promise = promise(world.now() - milliseconds(500), Nanos(0))});
  world.submit(2, {.prompt = 20,
                   .max_output = 1,
                   .expected_output = 1,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kWithinShare,
                   .promise = promise(world.now() + milliseconds(100), Nanos(0))});
  world.run();
  EXPECT_LT(world.tokens.at(2)[0], world.tokens.at(1)[0]);
}

// While a protected stream decodes, a prompt's chunk is as long as its next token's due time
// allows by the guarded law, and no longer.
TEST(Scheduler, SizesChunksByTheTightestSlack) {
  BatchConfig config = small_config(4, 256);
  config.chunk_tile = Tokens(1);
  World world(config);
  world.submit(1, {.prompt = 4,
                   .max_output = 200,
                   .expected_output = 200,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kWithinShare,
                   .promise = promise(world.now() + milliseconds(20), milliseconds(40))});
  world.step();
  ASSERT_EQ(world.tokens[1].size(), 1U);
  world.submit(2, {.prompt = 1'000, .max_output = 1, .expected_output = 1});
  world.compose();
  ASSERT_NE(world.row(2), nullptr);
  const Nanos slack = Instant() + milliseconds(60) - world.now();
  EXPECT_LE(world.scheduler().law().guarded(world.plan().shape), slack);
  world.perform();
  world.run();
  for (std::size_t j = 0; j < world.tokens[1].size(); ++j) {
    EXPECT_LE(world.tokens[1][j],
              Instant() + milliseconds(20) + milliseconds(40) * static_cast<std::int64_t>(j));
  }
}

// A promised prompt whose work just fits its time gets the whole of every step, whoever waits
// behind it: that is what the pool counted on. 1,500 tokens take 750 ms and some steps.
TEST(Scheduler, PromisedPromptsDoNotShareTheirSteps) {
  World world(small_config(16, 1'024));
  const auto due = [&](Nanos after) { return promise(world.now() + after, Nanos(0)); };
  world.submit(
      1,
      {.prompt = 1'500, .max_output = 1, .expected_output = 1, .promise = due(milliseconds(900))});
  for (std::uint64_t id = 2; id <= 5; ++id) {
    world.submit(id, {.prompt = 1'500,
                      .max_output = 1,
                      .expected_output = 1,
                      .promise = due(milliseconds(30'000))});
  }
  world.run();
  EXPECT_LE(world.ttft(1), milliseconds(900));
}

// As many prompts are half computed as may be; one that is due before them starts at once all the
// same, one that is due after them does not.
TEST(Scheduler, NobodyWaitsForAHalfComputedPromptThatIsDueLater) {
  BatchConfig config = small_config(16, 1'024);
  config.max_partial_prefills = 1;
  World world(config);
  const auto due = [&](Nanos after) { return promise(world.now() + after, Nanos(0)); };
  const auto submit = [&](std::uint64_t id, Nanos after) {
    world.submit(id,
                 {.prompt = 2'000, .max_output = 1, .expected_output = 1, .promise = due(after)});
  };
  submit(1, milliseconds(20'000));
  world.step();
  ASSERT_GT(world.view(1).computed, Tokens(0));
  submit(2, milliseconds(30'000));
  submit(3, milliseconds(2'000));
  world.step();
  EXPECT_GT(world.view(3).computed, Tokens(0));
  EXPECT_EQ(world.view(2).computed, Tokens(0));
}

// A stream that is ahead of its promise lets steps be longer than its pace from beginning to end
// instead of spending all at once, and still has every token in time.
TEST(Scheduler, SpendsWhatAStreamIsAheadByEvenly) {
  World world(small_config(4, 2'048));
  const domain::Promise stream = promise(world.now() + milliseconds(1'000), milliseconds(40));
  world.submit(1, {.prompt = 4, .max_output = 50, .expected_output = 50, .promise = stream});
  world.step();
  world.submit(2, {.prompt = 30'000, .max_output = 1, .expected_output = 1});
  while (!world.ended(1)) world.step();
  const std::vector<Instant>& at = world.tokens.at(1);
  // Half of about a second for 49 tokens, and a tile of 8 ms.
  EXPECT_LE(at[1] - at[0], milliseconds(40 + 10 + 8));
  for (std::size_t j = 1; j < at.size(); ++j) {
    EXPECT_GE(at[j] - at[j - 1], milliseconds(40));
    EXPECT_LE(at[j] - at[j - 1], world.config().pace_max);
    EXPECT_LE(at[j], stream.token_due(static_cast<std::int64_t>(j)));
  }
}

// A stream that is less than a pace ahead gets steps shorter than its pace until it is.
TEST(Scheduler, BuildsUpAPaceOfSlack) {
  World world(small_config(4, 2'048));
  const Nanos pace = milliseconds(40);
  const domain::Promise stream = promise(world.now() + milliseconds(5), pace);
  world.submit(1, {.prompt = 4, .max_output = 60, .expected_output = 60, .promise = stream});
  world.step();
  ASSERT_EQ(world.tokens[1].size(), 1U);
  world.submit(2, {.prompt = 30'000, .max_output = 1, .expected_output = 1});
  while (!world.ended(1)) world.step();
  const std::vector<Instant>& at = world.tokens.at(1);
  EXPECT_GE(stream.token_due(59) - at[59], pace / 2);
}

// A stream without a promise waits no longer between two tokens than the relaxed pace, whatever
// prompts arrive; and a prompt gets on in every step.
TEST(Scheduler, BoundsStepsWithoutAnyPromise) {
  const BatchConfig config = small_config(8, 1'024);
  World world(config);
  world.submit(1, {.prompt = 8, .max_output = 300, .expected_output = 300});
  world.step();
  world.submit(2, {.prompt = 4'000, .max_output = 1, .expected_output = 1});
  while (!world.ended(2)) {
    world.compose();
    EXPECT_GT(world.plan().shape.prefill_tokens, 0);
    world.perform();
  }
  EXPECT_LE(world.max_gap(1), config.pace_max);
}

// A short prompt that arrives behind a long one does not wait for its end, and the long one still
// gets on in every step while short ones keep coming.
TEST(Scheduler, ShortPromptsPassLongOnesWithoutStarvingThem) {
  const BatchConfig config = small_config(16, 1'024);
  World world(config);
  world.submit(1, {.prompt = 4'000, .max_output = 1, .expected_output = 1});
  world.step();
  std::uint64_t id = 2;
  while (!world.ended(1)) {
    world.submit(id++, {.prompt = 30, .max_output = 2, .expected_output = 2});
    const Tokens before = world.view(1).computed;
    world.step();
    if (world.ended(1)) break;
    EXPECT_GT(world.view(1).computed, before);
  }
  world.run();
  Nanos worst(0);
  for (std::uint64_t i = 2; i < id; ++i) worst = std::max(worst, world.ttft(i));
  // 4000 tokens take 2 s alone.
  EXPECT_LE(worst, milliseconds(400));
}

// The second of two equal prompts waits for the first one's blocks instead of computing them again.
TEST(Scheduler, SharesAPromptThatIsBeingComputed) {
  World world(small_config(4, 256));
  const Shape shape{
      .prompt = 1'000, .max_output = 4, .expected_output = 4, .family = 1, .shared = 1'000};
  world.submit(1, shape);
  world.submit(2, shape);
  world.run();
  EXPECT_EQ(world.usage.at(1).cached_prompt, Tokens(0));
  EXPECT_EQ(world.usage.at(2).cached_prompt, Tokens(992));  // 62 whole blocks of 16
  EXPECT_EQ(world.scheduler().counters().prefill_tokens, Tokens(1'008));
}

// At least the last prompt token is computed, also when every block of the prompt is cached.
TEST(Scheduler, NeverSharesTheWholePrompt) {
  World world(small_config(4, 64));
  const Shape shape{.prompt = 64, .max_output = 2, .expected_output = 2, .family = 1, .shared = 64};
  world.submit(1, shape);
  world.run();
  world.submit(2, shape);
  world.compose();
  ASSERT_EQ(world.plan().copies.size(), 1U);
  EXPECT_EQ(world.plan().copies[0].length, Tokens(48));
  ASSERT_NE(world.row(2), nullptr);
  EXPECT_EQ(world.row(2)->from, Tokens(48));
  EXPECT_TRUE(world.row(2)->samples);
  world.perform();
  world.run();
}

// With true output lengths nobody is ever preempted, and more run at once than a reservation of
// max_output would let in.
TEST(Scheduler, TrueForecastsNeedNoPreemption) {
  BatchConfig config = small_config(32, 256);
  World world(config);
  units::Prng prng(3);
  std::size_t most = 0;
  for (std::uint64_t id = 1; id <= 300; ++id) {
    const std::int64_t output = prng.between(1, 300);
    world.submit(id,
                 {.prompt = prng.between(10, 300), .max_output = 600, .expected_output = output});
  }
  world.ends = [&](const domain::AttemptRef& which, std::int64_t produced) {
    units::Prng again(3);
    std::int64_t output = 0;
    for (std::uint64_t id = 1; id <= which.request.value(); ++id) {
      output = again.between(1, 300);
      again.between(10, 300);
    }
    return produced >= output;
  };
  world.thorough = false;
  while (world.step()) {
    std::size_t running = 0;
    for (const auto& view : world.scheduler().sequences()) running += view.slot >= 0 ? 1 : 0;
    most = std::max(most, running);
  }
  EXPECT_EQ(world.scheduler().counters().preemptions, 0);
  EXPECT_GT(most, 256U * 16 / (155 + 600));
}

// A plan that the engine could not run is never tried again unchanged: the next one has fewer
// prompt tokens, or one stream fewer; and everything still ends well.
TEST(Scheduler, ChangesAPlanThatFailed) {
  World world(small_config(4, 64));
  world.submit(1, {.prompt = 200, .max_output = 8});
  world.submit(2, {.prompt = 20, .max_output = 8});
  world.compose();
  const std::int64_t before = world.plan().shape.prefill_tokens;
  world.fail(StepFault::kNoMemory);
  world.compose();
  EXPECT_LE(world.plan().shape.prefill_tokens, before / 2);
  EXPECT_LT(world.scheduler().kv().believed(), Blocks(64));
  world.perform();
  while (world.tokens[1].empty() || world.tokens[2].empty()) world.step();
  world.compose();
  ASSERT_EQ(world.plan().shape.decodes, 2);
  world.fail(StepFault::kNoMemory);
  EXPECT_EQ(world.scheduler().counters().preemptions, 1);
  world.run();
  EXPECT_EQ(world.outcomes.at(1), Outcome::kCompleted);
  EXPECT_EQ(world.outcomes.at(2), Outcome::kCompleted);
}

// When the only try cannot be computed and nothing can be changed about it, it fails; the next one
// gets its chance.
TEST(Scheduler, GivesUpATryThatTheEngineCannotRun) {
  World world(small_config(1, 16));
  world.submit(1, {.prompt = 1, .max_output = 8});
  for (int i = 0; i < 3 && !world.ended(1); ++i) {
    world.compose();
    world.fail(StepFault::kBroken);
  }
  EXPECT_EQ(world.failed.at(1), Reason::kEngineError);
  world.submit(2, {.prompt = 1, .max_output = 8});
  world.run();
  EXPECT_EQ(world.outcomes.at(2), Outcome::kCompleted);
}

// Memory that was given up after failures is believed in again after enough good steps.
TEST(Scheduler, BelievesInMemoryAgain) {
  BatchConfig config = small_config(2, 64);
  config.believed_recovery = 4;
  World world(config);
  world.submit(1, {.prompt = 20, .max_output = 700, .expected_output = 700});
  world.compose();
  world.fail(StepFault::kNoMemory);
  ASSERT_LT(world.scheduler().kv().believed(), Blocks(64));
  world.run();
  EXPECT_EQ(world.scheduler().kv().believed(), Blocks(64));
}

// The report counts what is held, what waits, and what is still to compute.
TEST(Scheduler, ReportsWhatItHolds) {
  World world(small_config(1, 64));
  world.submit(1, {.prompt = 32, .max_output = 8});
  world.submit(2, {.prompt = 100, .max_output = 8});
  world.compose();
  domain::StateReport report = world.scheduler().report(world.now());
  EXPECT_EQ(report.running, 1);
  EXPECT_EQ(report.waiting, 1);
  EXPECT_EQ(report.kv_used, Blocks(2));
  EXPECT_EQ(report.prefill_backlog, Tokens(132));
  EXPECT_GT(report.step_end, world.now());
  world.perform();
  report = world.scheduler().report(world.now());
  EXPECT_EQ(report.prefill_backlog, Tokens(100));
  EXPECT_EQ(report.step_end, world.now());
}

// Every row of every plan of one random history.
std::vector<std::int64_t> random_history(std::uint64_t seed) {
  World world(small_config(6, 48));
  world.thorough = false;
  units::Prng prng(seed);
  std::vector<std::int64_t> trace;
  for (std::uint64_t id = 1; id < 200; ++id) {
    Shape shape{.prompt = prng.between(1, 200), .max_output = prng.between(1, 60)};
    shape.expected_output = 20;
    shape.family = static_cast<std::uint64_t>(prng.between(1, 3));
    shape.shared = 48;
    shape.tier = static_cast<Tier>(prng.between(0, 3));
    world.submit(id, shape);
    world.step();
    for (const Row& row : world.plan().rows) {
      trace.insert(trace.end(), {static_cast<std::int64_t>(row.ref.request.value()), row.slot,
                                 row.from.value(), row.count.value()});
    }
  }
  return trace;
}

// Equal calls give equal plans, to the last row.
TEST(Scheduler, IsDeterministic) {
  EXPECT_EQ(random_history(11), random_history(11));
}

// Steps that streams bear for one tile only: tiles of 64 rows, and one stream at 40 ms a token.
BatchConfig one_tile_config() {
  BatchConfig config = small_config(8, 400);
  config.chunk_tile = Tokens(64);
  config.min_chunk = Tokens(64);
  config.pace_min = config.pace_max = milliseconds(20);
  return config;
}

void start_stream(World& world, std::int64_t tokens = 400) {
  world.submit(1, {.prompt = 4,
                   .max_output = tokens,
                   .expected_output = tokens,
                   .family = 0,
                   .shared = 0,
                   .tier = Tier::kWithinShare,
                   .promise = promise(world.now() + milliseconds(40), milliseconds(40))});
  world.step();
}

Shape prompt_due(World& world, std::int64_t tokens, Nanos in) {
  return {.prompt = tokens,
          .max_output = 1,
          .expected_output = 1,
          .family = 0,
          .shared = 0,
          .tier = Tier::kWithinShare,
          .promise = promise(world.now() + in, milliseconds(40))};
}

// Where a step holds one tile, an older long prompt does not take the steps of one that is due
// sooner: 128 tokens need 2 steps of 35 ms, and at most every third step is the older one's.
TEST(Scheduler, FloorOfTheOldestLeavesStepsToTheUrgent) {
  World world(one_tile_config());
  start_stream(world);
  world.submit(2, prompt_due(world, 2'000, units::seconds(60)));
  for (int i = 0; i < 4; ++i) world.step();
  world.submit(3, prompt_due(world, 128, milliseconds(200)));
  const units::Instant arrival = world.now();
  while (world.tokens[3].empty()) ASSERT_TRUE(world.step());
  EXPECT_LE(world.tokens[3][0], arrival + milliseconds(35LL * 4));
}

// An older long prompt gets its part of the time, a tile for every four at least, however many come
// that are due sooner.
TEST(Scheduler, FloorOfTheOldestIsKept) {
  World world(one_tile_config());
  start_stream(world);
  world.submit(2, prompt_due(world, 2'000, units::seconds(60)));
  for (std::uint64_t id = 3; id < 103; ++id) {
    world.submit(id, prompt_due(world, 128, milliseconds(500)));
    for (int i = 0; i < 2; ++i) world.step();
    if (!world.tokens[2].empty()) return;
  }
  EXPECT_GE(world.view(2).computed.value(), 200 / 4 * 64);
}

// Kernels by tiles of 64: whatever a prompt's length, its last chunk is no shorter than a tile
// unless the prompt is, nor longer than what the step's budget holds and a tile.
TEST(Scheduler, LeavesNoRestThatIsTooShort) {
  BatchConfig config = one_tile_config();
  config.least_rest = Tokens(64);
  for (std::int64_t tokens = 1; tokens <= 700; ++tokens) {
    World world(config);
    world.thorough = false;
    world.submit(1, prompt_due(world, tokens, units::seconds(60)));
    while (world.tokens[1].empty()) {
      ASSERT_TRUE(world.step());
      ASSERT_GE(world.plan().shape.prefill_tokens, std::min<std::int64_t>(tokens, 64)) << tokens;
      ASSERT_LE(step_time(config, world.plan()), milliseconds(100 + 32)) << tokens;
    }
  }
}

// A rest does not go along where a stream waits: 107 tokens would take 53 ms of its 40.
TEST(Scheduler, NoRestGoesAlongBesideAStream) {
  BatchConfig config = one_tile_config();
  config.least_rest = Tokens(64);
  World world(config);
  start_stream(world);
  world.submit(2, prompt_due(world, 107, units::seconds(60)));
  while (world.tokens[2].empty()) {
    ASSERT_TRUE(world.step());
    EXPECT_LE(step_time(config, world.plan()), milliseconds(40));
  }
}

// All sequences are taken by a stream and a long prompt, and one that is due before it waits for an
// end: the stream takes its 100 steps of 2.5 ms, and beside them the prompt gets no more than its
// floor: three tenths of that time, in tiles of 32 ms, and one for each 32 steps without any.
TEST(Scheduler, StreamsEndFirstWhereOneWaitsForASequence) {
  BatchConfig config = one_tile_config();
  config.spec.limits.max_sequences = 2;
  const auto end_of_stream = [&](bool one_waits) {
    World world(config);
    start_stream(world, 100);
    world.submit(2, prompt_due(world, 4'000, units::seconds(60)));
    world.step();
    const units::Instant start = world.now();
    if (one_waits) world.submit(3, prompt_due(world, 64, units::seconds(2)));
    while (!world.ended(1)) EXPECT_TRUE(world.step());
    return world.now() - start;
  };
  EXPECT_LE(end_of_stream(true), milliseconds(250 + 75 + 32 + 3 * 32));
  EXPECT_GE(end_of_stream(false), milliseconds(2'000));
}

// While one waits for a sequence, a prompt still has the time that its own deadline demands: 640
// tokens need 320 ms of the 520 ms until it is due, more than the floor's three tenths.
TEST(Scheduler, StreamsEndFirstOnlyAsFarAsDeadlinesOfPromptsAllow) {
  BatchConfig config = one_tile_config();
  config.spec.limits.max_sequences = 2;
  World world(config);
  start_stream(world, 400);
  world.submit(2, prompt_due(world, 640, milliseconds(520)));
  world.step();
  world.submit(3, prompt_due(world, 16, milliseconds(515)));
  const units::Instant due = world.now() + milliseconds(520);
  while (world.tokens[2].empty()) ASSERT_TRUE(world.step());
  EXPECT_LE(world.tokens[2][0], due);
}

}  // namespace
}  // namespace tidegate::batch::testing
