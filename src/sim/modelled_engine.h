// One simulated engine: the production batch tier, with a law and noise in place of a GPU. It runs
// one step at a time; the world asks when the step ends and then what came of it. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "batch/batch_scheduler.h"
#include "sim/world.h"
#include "units/prng.h"

namespace tidegate::sim {

class ModelledEngine {
 public:
  struct Options {
    Physics physics;
    std::uint64_t seed = 1;
    batch::StepPolicyFactory policy;  // empty: the production one
  };
  ModelledEngine(const EngineModel& model, const Options& options);

  // Down the seam. `output` is the length at which the request will really end.
  void submit(const domain::Assign& assign, units::Tokens output, units::Instant now);
  void abort(const domain::AttemptRef& ref, units::Instant now);
  // Events that need no step (Accepted, refusals, cancels of waiting tries). Valid until the next
  // call.
  std::span<const batch::EngineEvent> drain_events() { return batch_.drain_events(); }

  // Begins the next step if none runs and there is work; true when one began. Then step_end() is
  // when finish_step() must be called.
  bool begin_step(units::Instant now);
  units::Instant step_end() const { return step_end_; }
  // Commits the step. The events are valid until the next call.
  std::span<const batch::EngineEvent> finish_step(units::Instant now);

  // Steps that begin from now on take this many times as long as the law says.
  void slow_down(units::Ppm factor) { slowdown_ = factor; }

  bool running() const { return running_; }
  const batch::BatchScheduler& batch() const { return batch_; }
  const EngineModel& model() const { return model_; }
  units::Nanos busy() const { return busy_; }

 private:
  struct Truth {
    units::Tokens output{0};
    units::Tokens produced{0};
  };

  EngineModel model_;
  units::Ppm noise_;
  units::Ppm slowdown_{units::kMillion};
  units::Prng prng_;
  batch::BatchScheduler batch_;
  std::map<units::RequestId, Truth> truths_;  // of the tries that are here
  batch::StepResult result_;
  std::int64_t step_number_ = 0;
  units::Instant step_start_;
  units::Instant step_end_;
  units::Nanos busy_{0};
  bool running_ = false;
};

}  // namespace tidegate::sim
