// A modelled engine for the swarm: the real BatchScheduler composes the steps, this class performs
// them in no time at all and says how long they would have taken. Every call is checked by the
// oracle. Sampling is known in advance: each request has a true length. Deterministic; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "batch/batch_scheduler.h"
#include "domain/event.h"
#include "invariants/batch_oracle.h"
#include "journal/digest.h"
#include "units/prng.h"

namespace tidegate::swarm {

struct TrueSize {
  std::int64_t prompt = 0;
  std::int64_t output = 0;  // tokens until the model stops by itself
};
using TrueSizes = std::map<units::RequestId, TrueSize>;

// What one call of the scheduler gave, as the oracle is told it. A test that wants to see the
// oracle catch something alters it.
struct BatchStep {
  std::optional<batch::StepPlan> plan;
  std::vector<batch::EngineEvent> events;
  invariants::BatchView view;
};
using BatchTamper = std::function<void(BatchStep&)>;

struct EngineTruth {
  domain::StepCoefficients law;  // not always the one that the engine was told
  units::Ppm noise{0};           // a step takes 1 - noise .. 1 + noise of the law
  units::Ppm fault{0};           // probability that a step fails
};

class EngineModel {
 public:
  struct Options {
    batch::BatchConfig config;
    EngineTruth truth;
    std::uint64_t seed = 0;
    const TrueSizes* sizes = nullptr;
    BatchTamper tamper;
  };
  // REQUIRES: sizes outlives the model and names every request that is submitted.
  explicit EngineModel(Options options);

  void submit(const domain::Assign& assign, units::Instant now);
  void abort(const domain::AttemptRef& ref, units::Instant now);
  void abort_all(domain::Outcome outcome, units::Instant now);
  // Starts a step if none runs and there is work; when it will end.
  std::optional<units::Instant> start_step(units::Instant now);
  // REQUIRES: a step runs.
  void finish_step(units::Instant now);

  const domain::EngineSpec& spec() const { return options_.config.spec; }
  const batch::BatchScheduler& scheduler() const { return scheduler_; }
  bool heal() { return std::exchange(options_.truth.fault, units::Ppm(0)) > units::Ppm(0); }
  std::vector<domain::Event> take_events() { return std::exchange(said_, {}); }
  invariants::Violations take_violations() { return std::exchange(violations_, {}); }
  std::uint64_t digest() const { return digest_.value(); }

 private:
  using Events = std::span<const batch::EngineEvent>;

  batch::StepResult perform();
  // Passes on what the scheduler said, tells the oracle and checks the state.
  void settle(const batch::StepPlan* plan, Events events, units::Instant now);
  void note(invariants::Violations found);

  Options options_;
  batch::BatchScheduler scheduler_;
  invariants::BatchOracle oracle_;
  units::Prng prng_;
  journal::Digest digest_;
  std::optional<batch::StepPlan> running_;
  std::vector<domain::Event> said_;
  invariants::Violations violations_;
};

}  // namespace tidegate::swarm
