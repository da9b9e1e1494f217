// Random lists of submits, aborts, steps and failed steps against the batch scheduler, with an
// engine that holds real tokens: whatever happens, every row continues exactly what its slot holds,
// every try ends exactly once, and at the end nothing is held.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "batch/batch_scheduler.h"
#include "fake_engine.h"
#include "units/prng.h"

namespace tidegate::batch::testing {
namespace {

using units::Instant;
using units::Nanos;
using units::Prng;
using units::Tokens;

struct Knobs {
  std::int64_t sequences, blocks, retained, step_tokens, per_sequence, families, max_prompt;
  std::int64_t max_output, submit_percent, abort_percent, fail_percent, wrong_length_percent;
};

Knobs draw_knobs(Prng& prng) {
  return {.sequences = prng.between(1, 12),
          .blocks = prng.between(12, 80),
          .retained = prng.between(0, 6),
          .step_tokens = prng.between(4, 200),
          .per_sequence = prng.between(0, 3) == 0 ? prng.between(1, 2) : 0,
          .families = prng.between(1, 4),
          .max_prompt = prng.between(10, 400),
          .max_output = prng.between(1, 120),
          .submit_percent = prng.between(5, 70),
          .abort_percent = prng.between(0, 15),
          .fail_percent = prng.between(0, 1) * prng.between(0, 8),
          .wrong_length_percent = prng.between(0, 100)};
}

class Swarm {
 public:
  Swarm(std::uint64_t seed, const Knobs& knobs)
      : prng_(seed),
        knobs_(knobs),
        config_(make_config(knobs)),
        scheduler_(config_),
        engine_(config_) {}

  void run(int operations) {
    for (int i = 0; i < operations && !::testing::Test::HasFatalFailure(); ++i) {
      if (percent(knobs_.submit_percent)) submit();
      if (percent(knobs_.abort_percent)) abort();
      step(true);
    }
    for (int i = 0; i < 100'000 && scheduler_.has_work(); ++i) {
      step(false);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_FALSE(scheduler_.has_work()) << "tries that never end";
    EXPECT_TRUE(live_.empty());
    EXPECT_EQ(scheduler_.kv().referenced(), units::Blocks(0));
    EXPECT_EQ(scheduler_.kv().free() + scheduler_.kv().cached(), scheduler_.kv().total());
  }

  std::int64_t completed() const { return completed_; }
  const BatchCounters& counters() const { return scheduler_.counters(); }

 private:
  static BatchConfig make_config(const Knobs& knobs) {
    BatchConfig config = small_config(knobs.sequences, knobs.blocks);
    config.retained_slots = knobs.retained;
    config.max_waiting = 64;
    config.spec.limits.max_step_tokens = Tokens(knobs.step_tokens);
    config.spec.kv.per_sequence = units::Blocks(knobs.per_sequence);
    config.spec.limits.max_context = Tokens(knobs.blocks * 16);
    return config;
  }

  bool percent(std::int64_t p) { return prng_.between(1, 100) <= p; }

  domain::Promise draw_promise() {
    domain::Promise promise;
    if (percent(40)) return promise;
    promise.first_token_due = now_ + units::milliseconds(prng_.between(1, 2'000));
    if (percent(80)) promise.token_pace = units::milliseconds(prng_.between(1, 200));
    if (percent(20)) promise.total_due = now_ + units::milliseconds(prng_.between(100, 20'000));
    return promise;
  }

  void submit() {
    const std::uint64_t id = next_id_++;
    Shape shape{.prompt = prng_.between(1, knobs_.max_prompt),
                .max_output = prng_.between(1, knobs_.max_output)};
    shape.expected_output = percent(knobs_.wrong_length_percent)
                                ? std::max<std::int64_t>(1, shape.max_output / 3)
                                : shape.max_output;
    shape.family = static_cast<std::uint64_t>(prng_.between(1, knobs_.families));
    shape.shared = percent(70) ? prng_.between(0, shape.prompt) : 0;
    shape.tier = static_cast<domain::Tier>(prng_.between(0, 3));
    shape.promise = draw_promise();
    shape.arrival = now_;
    const domain::Assign assign = make_assign(id, shape, 16);
    engine_.know(assign.ref, prompt_of(id, shape));
    live_.insert(id);
    max_output_[id] = shape.max_output;
    scheduler_.submit(assign, now_);
    take(scheduler_.drain_events());
  }

  void abort() {
    if (live_.empty()) return;
    auto victim = live_.begin();
    std::advance(victim, prng_.between(0, static_cast<std::int64_t>(live_.size()) - 1));
    const std::uint64_t id = *victim;
    scheduler_.abort({.request = units::RequestId(id), .attempt = {}, .engine = {}, .epoch = {}},
                     now_);
    take(scheduler_.drain_events());
    if (!scheduler_.outstanding()) {
      EXPECT_EQ(live_.count(id), 0U) << "abort did not end it at once";
    }
  }

  void check() {
    ASSERT_TRUE(scheduler_.kv().consistent());
    const auto views = scheduler_.sequences();
    ASSERT_EQ(views.size(), live_.size());
    std::set<Slot> slots;
    for (const SequenceView& view : views) {
      ASSERT_EQ(live_.count(view.ref.request.value()), 1U);
      ASSERT_EQ(view.produced.value(), produced_[view.ref.request.value()]);
      if (view.slot >= 0) {
        ASSERT_TRUE(slots.insert(view.slot).second);
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(slots.size()), scheduler_.kv().running());
  }

  void step(bool faults) {
    const StepPlan& plan = scheduler_.compose(now_);
    const Nanos time = step_time(config_, plan);
    if (faults && !plan.idle() && percent(knobs_.fail_percent)) {
      const bool broken = percent(30);
      engine_.fail(plan, broken);
      now_ = now_ + time;
      take(scheduler_.fail_step(plan.number, broken ? StepFault::kBroken : StepFault::kNoMemory,
                                now_));
      check();
      return;
    }
    const StepResult result = engine_.perform(
        plan, time, [&](const domain::AttemptRef&, std::int64_t) { return percent(2); });
    if (plan.idle()) {
      now_ = now_ + units::milliseconds(1);
      return check();
    }
    if (faults && percent(knobs_.abort_percent)) abort();
    now_ = now_ + time;
    take(scheduler_.complete(result, now_));
    check();
  }

  void take(std::span<const EngineEvent> events) {
    for (const EngineEvent& event : events) std::visit([&](const auto& e) { on(e); }, event);
  }
  void on(const domain::Accepted&) {}
  void on(const domain::TokensProduced& event) {
    const auto id = event.ref.request.value();
    ASSERT_EQ(live_.count(id), 1U) << "a token after the end";
    produced_[id] += event.count.value();
    ASSERT_LE(produced_[id], max_output_[id]);
  }
  void on(const domain::Finished& event) {
    const auto id = event.ref.request.value();
    ASSERT_EQ(live_.erase(id), 1U) << "a second end";
    ASSERT_EQ(event.usage.output.value(), produced_[id]);
    if (event.outcome == domain::Outcome::kCompleted) completed_ += 1;
  }
  void on(const domain::Failed& event) {
    ASSERT_EQ(live_.erase(event.ref.request.value()), 1U) << "a second end";
  }

  Prng prng_;
  Knobs knobs_;
  BatchConfig config_;
  BatchScheduler scheduler_;
  FakeEngine engine_;
  Instant now_;
  std::uint64_t next_id_ = 1;
  std::set<std::uint64_t> live_;
  std::map<std::uint64_t, std::int64_t> produced_;
  std::map<std::uint64_t, std::int64_t> max_output_;
  std::int64_t completed_ = 0;
};

// S1, S2, S3, S5, S6, S7, S11 and the physical truth of every plan hold in any history.
TEST(BatchSwarm, EveryHistoryIsSound) {
  std::int64_t completed = 0;
  std::int64_t preemptions = 0;
  std::int64_t shared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Prng prng(seed);
    Swarm swarm(seed * 7 + 1, draw_knobs(prng));
    swarm.run(150);
    if (::testing::Test::HasFailure()) return;
    completed += swarm.completed();
    preemptions += swarm.counters().preemptions;
    shared += swarm.counters().shared_tokens.value();
  }
  // The histories must reach what they are meant to test.
  EXPECT_GT(completed, 1'000);
  EXPECT_GT(preemptions, 100);
  EXPECT_GT(shared, 10'000);
}

}  // namespace
}  // namespace tidegate::batch::testing
