// One life of an engine (one epoch): its context, its batch tier, and the tries that run in it.
// When llama.cpp reports a fatal error the life is over, and the engine may begin the next one.
// One owner, on the engine's thread; only the constructor and make() may run elsewhere before it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "batch/batch_scheduler.h"
#include "engines/engine.h"
#include "engines/llama/calibration.h"
#include "engines/llama/llama_tokenizer.h"
#include "engines/llama/model.h"
#include "engines/llama/step_runner.h"
#include "engines/llama/try.h"

namespace tidegate::engines::llama {

enum class StepOutcome : std::uint8_t { kWorked, kIdle, kFatal };

class Life {
 public:
  struct Parts {
    const LoadedModel& model;
    const LlamaTokenizer& tokenizer;
    Sizes sizes;
    std::function<units::Instant()> now;
    batch::StepPolicyFactory step_policy{};  // empty: the house's own
  };
  // Error: as make_context().
  static units::Result<std::unique_ptr<Life>> make(const Parts& parts);

  // Measures the step law for about `budget`. Error: a trial step failed, or too few of them ran.
  units::Result<Calibration> calibrate(units::Nanos budget);
  // Starts serving as `spec`, with rows filled up as a calibration found best. REQUIRES: called
  // once, after calibrate() if that is called at all.
  void serve(const domain::EngineSpec& spec, const RowFill& fill, Sink& sink);

  // As in engine.h. REQUIRES: serve() was called.
  void submit(const domain::Assign& assign, const std::shared_ptr<const Generation>& generation);
  void abort(const domain::AttemptRef& ref);
  void abort_all(domain::Outcome outcome);
  // Ends every try with Failed{kEngineError}; the life is over.
  void fail_all();

  // Composes one step and performs it. kIdle: there was nothing to compute.
  StepOutcome step();
  bool has_work() const { return scheduler_->has_work(); }
  bool ever_worked() const { return worked_; }
  domain::StateReport report() const { return scheduler_->report(parts_.now()); }
  // Tokens that llama.cpp itself holds, added up over all sequences: a shared one counts for each.
  units::Tokens held() const { return runner_.held(); }

 private:
  using Key = std::pair<units::RequestId, units::Attempt>;
  static Key key(const domain::AttemptRef& ref) { return {ref.request, ref.attempt}; }

  Life(const Parts& parts, ContextHandle context);
  bool valid(const domain::Assign& assign, const Generation* generation) const;
  batch::StepResult draw(const batch::StepPlan& plan);
  void dispatch(std::span<const batch::EngineEvent> events);
  void forget(const domain::AttemptRef& ref) { tries_.erase(key(ref)); }

  Parts parts_;
  ContextHandle context_;
  StepRunner runner_;
  std::optional<batch::BatchScheduler> scheduler_;
  Sink* sink_ = nullptr;
  units::EngineId engine_;
  std::map<Key, Try> tries_;
  std::random_device entropy_;
  bool worked_ = false;
};

}  // namespace tidegate::engines::llama
