#include "batch/batch_scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "fake_engine.h"

namespace tidegate::batch::testing {
namespace {

using domain::Outcome;
using units::Instant;
using units::Nanos;
using units::Tokens;

// Drives one scheduler and its fake engine on a clock that the law's own step times move.
class World {
 public:
  explicit World(const BatchConfig& config)
      : config_(config), scheduler_(config), engine_(config) {}

  void submit(std::uint64_t id, Shape shape) {
    shape.arrival = now_;
    const domain::Assign assign = make_assign(id, shape, config_.spec.kv.block_tokens.value());
    engine_.know(assign.ref, prompt_of(id, shape));
    scheduler_.submit(assign, now_);
    take(scheduler_.drain_events());
  }
  void abort(std::uint64_t id) {
    scheduler_.abort({.request = units::RequestId(id), .attempt = {}, .engine = {}, .epoch = {}},
                     now_);
    take(scheduler_.drain_events());
  }
  // One step; false when there was nothing to compute.
  bool step() {
    const StepPlan& plan = scheduler_.compose(now_);
    last_ = plan;
    EXPECT_TRUE(scheduler_.kv().consistent());
    const Nanos time = step_time(config_, plan);
    const StepResult result = engine_.perform(plan, time);
    if (plan.idle()) return false;
    now_ = now_ + time;
    take(scheduler_.complete(result, now_));
    EXPECT_TRUE(scheduler_.kv().consistent());
    return true;
  }
  void run(int limit = 100'000) {
    while (limit-- > 0 && step()) {
    }
    EXPECT_GT(limit, 0) << "no end in sight";
  }

  const StepPlan& last() const { return last_; }
  BatchScheduler& scheduler() { return scheduler_; }
  FakeEngine& engine() { return engine_; }
  Instant now() const { return now_; }
  void advance(Nanos by) { now_ = now_ + by; }

  std::map<std::uint64_t, std::vector<Instant>> tokens;
  std::map<std::uint64_t, Outcome> outcomes;
  std::map<std::uint64_t, domain::Usage> usage;
  std::map<std::uint64_t, domain::Reason> failed;
  std::map<std::uint64_t, Instant> ended;

 private:
  void take(std::span<const EngineEvent> events) {
    for (const EngineEvent& event : events) {
      if (const auto* produced = std::get_if<domain::TokensProduced>(&event)) {
        tokens[produced->ref.request.value()].push_back(now_);
      } else if (const auto* finished = std::get_if<domain::Finished>(&event)) {
        const auto id = finished->ref.request.value();
        EXPECT_TRUE(outcomes.emplace(id, finished->outcome).second) << "ended twice";
        usage[id] = finished->usage;
        ended[id] = now_;
      } else if (const auto* failure = std::get_if<domain::Failed>(&event)) {
        EXPECT_TRUE(failed.emplace(failure->ref.request.value(), failure->reason).second);
      }
    }
  }

  BatchConfig config_;
  BatchScheduler scheduler_;
  FakeEngine engine_;
  StepPlan last_;
  Instant now_;
};

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

}  // namespace
}  // namespace tidegate::batch::testing
