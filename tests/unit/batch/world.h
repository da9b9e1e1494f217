// One scheduler and its literal engine on a clock that the law's own step times move; records when
// each token came and how each try ended. What the tests of the batch tier speak in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "batch/batch_scheduler.h"
#include "fake_engine.h"

namespace tidegate::batch::testing {

class World {
 public:
  explicit World(const BatchConfig& config, const StepPolicyFactory& policy = {})
      : config_(config), scheduler_(config, policy), engine_(config) {}

  // Arrives now. A promise in `shape` is relative to now only if the caller made it so.
  void submit(std::uint64_t id, Shape shape) {
    shape.arrival = now_;
    const domain::Assign assign = make_assign(id, shape, config_.spec.kv.block_tokens.value());
    engine_.know(assign.ref, prompt_of(id, shape));
    arrivals[id] = now_;
    scheduler_.submit(assign, now_);
    take(scheduler_.drain_events());
  }

  void abort(std::uint64_t id) {
    scheduler_.abort({.request = units::RequestId(id), .attempt = {}, .engine = {}, .epoch = {}},
                     now_);
    take(scheduler_.drain_events());
  }

  // Composes the next plan without performing it.
  const StepPlan& compose() {
    last_ = scheduler_.compose(now_);
    return last_;
  }
  // Performs the composed plan; false when there was nothing to compute.
  bool perform() {
    const units::Nanos time = step_time(config_, last_);
    const StepResult result = engine_.perform(last_, time, ends);
    if (last_.idle()) return false;
    now_ = now_ + time;
    take(scheduler_.complete(result, now_));
    if (thorough) {
      EXPECT_TRUE(scheduler_.kv().consistent());
    }
    return true;
  }
  bool step() {
    compose();
    return perform();
  }
  void run(int limit = 200'000) {
    while (limit-- > 0 && step()) {
    }
    EXPECT_GT(limit, 0) << "no end in sight";
  }
  // Fails the composed plan.
  void fail(StepFault fault) {
    engine_.fail(last_, fault == StepFault::kBroken);
    take(scheduler_.fail_step(last_.number, fault, now_));
    EXPECT_TRUE(scheduler_.kv().consistent());
  }

  const StepPlan& plan() const { return last_; }
  // The row of a request in the last plan; null when it has none.
  const Row* row(std::uint64_t id) const {
    for (const Row& row : last_.rows) {
      if (row.ref.request == units::RequestId(id)) return &row;
    }
    return nullptr;
  }
  SequenceView view(std::uint64_t id) const {
    for (const SequenceView& view : scheduler_.sequences()) {
      if (view.ref.request == units::RequestId(id)) return view;
    }
    ADD_FAILURE() << "request " << id << " is not alive";
    return {};
  }
  bool ended(std::uint64_t id) const { return outcomes.count(id) + failed.count(id) > 0; }
  // Time to first token.
  units::Nanos ttft(std::uint64_t id) const { return tokens.at(id).front() - arrivals.at(id); }
  // Longest time between two tokens.
  units::Nanos max_gap(std::uint64_t id) const {
    const auto& times = tokens.at(id);
    units::Nanos gap(0);
    for (std::size_t i = 1; i < times.size(); ++i) gap = std::max(gap, times[i] - times[i - 1]);
    return gap;
  }

  const BatchScheduler& scheduler() const { return scheduler_; }
  const BatchConfig& config() const { return config_; }
  units::Instant now() const { return now_; }
  void advance(units::Nanos by) { now_ = now_ + by; }

  std::map<std::uint64_t, units::Instant> arrivals;
  std::map<std::uint64_t, std::vector<units::Instant>> tokens;
  std::map<std::uint64_t, domain::Outcome> outcomes;
  std::map<std::uint64_t, domain::Usage> usage;
  std::map<std::uint64_t, domain::Reason> failed;
  std::function<bool(const domain::AttemptRef&, std::int64_t)> ends;
  bool thorough = true;  // recount the block table after each step

 private:
  void take(std::span<const EngineEvent> events) {
    for (const EngineEvent& event : events) {
      if (const auto* produced = std::get_if<domain::TokensProduced>(&event)) {
        EXPECT_FALSE(ended(produced->ref.request.value())) << "a token after the end";
        tokens[produced->ref.request.value()].push_back(now_);
      } else if (const auto* finished = std::get_if<domain::Finished>(&event)) {
        const auto id = finished->ref.request.value();
        EXPECT_FALSE(ended(id)) << "a second end";
        outcomes[id] = finished->outcome;
        usage[id] = finished->usage;
      } else if (const auto* failure = std::get_if<domain::Failed>(&event)) {
        EXPECT_FALSE(ended(failure->ref.request.value())) << "a second end";
        failed[failure->ref.request.value()] = failure->reason;
      }
    }
  }

  BatchConfig config_;
  BatchScheduler scheduler_;
  FakeEngine engine_;
  StepPlan last_;
  units::Instant now_;
};

}  // namespace tidegate::batch::testing
