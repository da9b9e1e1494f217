#include "pool/admission/predicate.h"

#include <gtest/gtest.h>

#include "cost/kv_law.h"
#include "pool/admission/ends.h"
#include "pool_env.h"

namespace tidegate::pool::testing {
namespace {

using domain::Reason;
using units::Instant;
using units::Nanos;
using units::Tokens;

constexpr PoolPolicy kPolicy{};

Ask ask_for(const domain::Request& r, Instant due) {
  return {.request = &r, .key = {due, due, r.id}};
}

// A resident whose prompt is computed but which has not produced anything: the engine is not idle,
// and has neither a running step nor prefill in front of a newcomer.
void occupy(EngineView& engine, std::uint64_t id, const domain::Request& r) {
  const domain::AttemptRef ref{r.id, units::Attempt(1), engine.spec().id, engine.spec().epoch};
  const PledgeIndex index = engine.add({ref,
                                        static_cast<SlotIndex>(id),
                                        domain::Tier::kWithinShare,
                                        {Instant::never(), Instant(0), r.id}},
                                       r);
  engine.accept(index);
  domain::StateReport report;
  report.engine = engine.spec().id;
  report.epoch = engine.spec().epoch;
  engine.report(report);
}

// Admission and shedding turn at the same nanosecond: a request alone in line is feasible up to the
// last instant at which it is not hopeless, and never after.
TEST(Predicate, AdmissionAndShedUseOneThreshold) {
  EngineView engine(engine_spec(1), kPolicy);
  occupy(engine, 9, request(9, 10, 10));
  for (const std::int64_t prompt : {1, 16, 100, 1'000, 5'000}) {
    const domain::Request r = request(1, prompt, 10);
    const Ask ask = ask_for(r, Instant(2'000'000'000));
    const Instant last = hopeless_after(ask, engine);
    EXPECT_FALSE(hopeless(ask, engine, last));
    EXPECT_TRUE(feasible(ask, engine, kPolicy, last).ok) << prompt;
    EXPECT_TRUE(hopeless(ask, engine, last + Nanos(1)));
    const Verdict verdict = feasible(ask, engine, kPolicy, last + Nanos(1));
    EXPECT_FALSE(verdict.ok);
    EXPECT_EQ(verdict.part, Part::kFirstToken);
    EXPECT_EQ(verdict.drains_in, Nanos(1));
  }
}

// The predicted first token is the prefill by the law: 1 ms a step and 100 us a token, times the
// guard of 1.1, in steps of at most 4,096 tokens.
TEST(Predicate, FirstTokenFollowsTheLaw) {
  EngineView engine(engine_spec(1), kPolicy);
  const domain::Request r = request(1, 1'000, 10);
  EXPECT_EQ(first_token_at(ask_for(r, Instant::never()), engine, {}, Instant(0)),
            Instant(0) + units::microseconds(111'100));
}

// An idle engine takes one whatever its law says; what is overdue is not taken even there.
TEST(Predicate, IdleEngineTakesOneUnlessOverdue) {
  EngineView engine(engine_spec(1, 1'000'000), kPolicy);
  const domain::Request r = request(1, 100, 10);
  EXPECT_TRUE(feasible(ask_for(r, Instant(1'000)), engine, kPolicy, Instant(1'000)).ok);
  EXPECT_FALSE(feasible(ask_for(r, Instant(1'000)), engine, kPolicy, Instant(1'001)).ok);
}

// An unmeasured law may only count what it would have refused.
TEST(Predicate, UnmeasuredLawGatesInShadow) {
  auto spec = engine_spec(1, 1'000'000);
  spec.calibrated = false;
  EngineView engine(spec, kPolicy);
  occupy(engine, 9, request(9, 10, 10));
  const domain::Request r = request(1, 100, 10);
  const Verdict verdict = feasible(ask_for(r, Instant(1'000'000)), engine, kPolicy, Instant(0));
  EXPECT_TRUE(verdict.ok);
  EXPECT_TRUE(verdict.shadow_failure);
}

// Sequences and predicted KV bound what an engine is given, counting promises it has not started.
TEST(Predicate, PromisedButUnstartedCounts) {
  auto spec = engine_spec(1);
  spec.limits.kv_blocks = units::Blocks(100);  // 1,600 tokens, 97 blocks of them usable
  EngineView engine(spec, kPolicy);
  occupy(engine, 9, request(9, 700, 100));
  const domain::Request fits = request(1, 600, 100);
  EXPECT_TRUE(feasible(ask_for(fits, Instant::never()), engine, kPolicy, Instant(0)).ok);
  const domain::Request large = request(1, 700, 100);
  const Verdict verdict = feasible(ask_for(large, Instant::never()), engine, kPolicy, Instant(0));
  EXPECT_EQ(verdict.reason, Reason::kKvFull);
  EXPECT_EQ(verdict.full, domain::Resource::kKvBlocks);
}

// Decodes cost 10 ms each here: a pace of 50 ms at a share of 0.9 allows 45 ms, so with the guard
// of 1.1 three sequences keep it (1.1 x (1 + 30) ms and 16 tokens of prefill), and a fourth would
// still (1.1 x 41 = 45.1 ms) not.
TEST(Predicate, TightestPaceBoundsTheSequences) {
  auto spec = engine_spec(1, 0);
  spec.law.per_decode_fs = 10'000'000'000'000;
  EngineView engine(spec, kPolicy);
  domain::Request r = request(1, 16, 10);
  r.promise = {Instant(100'000'000'000), ms(50), Instant::never()};
  std::int64_t taken = 0;
  Verdict verdict;
  for (std::uint64_t id = 1; id <= 6; ++id) {
    r.id = units::RequestId(id);
    verdict = feasible(ask_for(r, r.promise.first_token_due), engine, kPolicy, Instant(0));
    if (!verdict.ok) break;
    occupy(engine, id, r);
    taken += 1;
  }
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(verdict.reason, Reason::kPaceTooSlow);
}

// A newcomer that is due first may not push one that was on time behind its due time.
TEST(Predicate, NobodyBehindLosesItsSlack) {
  EngineView engine(engine_spec(1), kPolicy);
  occupy(engine, 9, request(9, 10, 10));
  domain::Request resident = request(2, 1'000, 10);  // 111.1 ms
  resident.promise.first_token_due = Instant(150'000'000);
  const domain::AttemptRef ref{resident.id, units::Attempt(1), engine.spec().id,
                               engine.spec().epoch};
  engine.add({ref, 2, domain::Tier::kWithinShare, {Instant(150'000'000), Instant(0), resident.id}},
             resident);
  const domain::Request small = request(3, 300, 10);  // together 1.1 x (1 + 130) = 144.1 ms
  EXPECT_TRUE(feasible(ask_for(small, Instant(100'000'000)), engine, kPolicy, Instant(0)).ok);
  const domain::Request large = request(3, 400, 10);  // together 1.1 x (1 + 140) = 155.1 ms
  EXPECT_FALSE(feasible(ask_for(large, Instant(100'000'000)), engine, kPolicy, Instant(0)).ok);
}

// An engine whose sequences are taken is given one more where streams share its steps with a prompt
// that is due later, so that it lets streams end first; else the newcomer waits where an earlier
// one can still pass it.
TEST(Predicate, OneIsSentAheadOfAnEndOnlyToHurryStreams) {
  auto spec = engine_spec(1);
  spec.limits.max_sequences = 2;
  const domain::Request stream = request(1, 10, 10);
  const domain::Request prompt = request(2, 100, 10);
  const domain::Request newcomer = request(3, 10, 10);
  for (const bool own : {true, false}) {
    spec.own_batching = own;
    EngineView engine(spec, kPolicy);
    const auto add = [&](const domain::Request& r, std::int64_t due) {
      const domain::AttemptRef ref{r.id, units::Attempt(1), spec.id, spec.epoch};
      const auto slot = static_cast<SlotIndex>(r.id.value());
      return engine.add({ref, slot, domain::Tier::kWithinShare, {Instant(due), Instant(0), r.id}},
                        r);
    };
    const auto fits = [&](std::int64_t due) {
      return feasible(ask_for(newcomer, Instant(due)), engine, kPolicy, Instant(0)).ok;
    };
    const PledgeIndex running = add(stream, 1'000'000'000);
    add(prompt, 5'000'000'000);
    EXPECT_FALSE(fits(1'000'000'000)) << "no stream runs yet";
    engine.produce(running, Tokens(1), Instant(0));
    EXPECT_EQ(fits(1'000'000'000), own);
    EXPECT_FALSE(fits(6'000'000'000)) << "the prompt is due first";
    add(request(4, 10, 10), 1'000'000'000);
    EXPECT_FALSE(fits(1'000'000'000)) << "one is ahead";
  }
}

// Who is sent ahead of an end must be on time after it: the wait for it and its own prefill are
// both before its first token.
TEST(Predicate, WhoIsSentAheadWaitsForAnEnd) {
  auto spec = engine_spec(1);
  spec.limits.max_sequences = 2;
  EngineView engine(spec, kPolicy);
  const domain::Request stream = request(1, 10, 10);
  const domain::Request prompt = request(2, 100, 10);
  const auto add = [&](const domain::Request& r, std::int64_t due) {
    const domain::AttemptRef ref{r.id, units::Attempt(1), spec.id, spec.epoch};
    const auto slot = static_cast<SlotIndex>(r.id.value());
    return engine.add({ref, slot, domain::Tier::kWithinShare, {Instant(due), Instant(0), r.id}}, r);
  };
  engine.produce(add(stream, 1'000'000'000), Tokens(1), Instant(0));
  add(prompt, 5'000'000'000);
  const domain::Request newcomer = request(3, 10, 10);
  const Nanos end = sequences_wait({&engine, {}}, domain::Tier::kWithinShare, 1);
  const Nanos own = engine.prefill_time(engine.load(domain::Tier::kWithinShare),
                                        prefill_work(Tokens(10), Tokens(10)));
  const auto fits = [&](Nanos due) {
    return feasible(ask_for(newcomer, Instant(0) + due), engine, kPolicy, Instant(0)).ok;
  };
  EXPECT_TRUE(fits(end + own));
  EXPECT_FALSE(fits(end + own - Nanos(1)));
}

// Work that can be preempted does not gate others on engines that batch with our scheduler.
TEST(Predicate, BestEffortMakesWay) {
  auto spec = engine_spec(1);
  spec.limits.max_sequences = 1;
  for (const bool own : {true, false}) {
    spec.own_batching = own;
    EngineView engine(spec, kPolicy);
    const domain::Request r = request(1, 10, 10);
    const domain::AttemptRef ref{r.id, units::Attempt(1), spec.id, spec.epoch};
    engine.add({ref, 1, domain::Tier::kBestEffort, {Instant::never(), Instant(0), r.id}}, r);
    const domain::Request urgent = request(2, 10, 10);
    Ask ask = ask_for(urgent, Instant(1'000'000'000));
    EXPECT_EQ(feasible(ask, engine, kPolicy, Instant(0)).ok, own);
    ask.tier = domain::Tier::kBestEffort;
    EXPECT_EQ(feasible(ask, engine, kPolicy, Instant(0)).reason, Reason::kSequencesFull);
  }
}

}  // namespace
}  // namespace tidegate::pool::testing
