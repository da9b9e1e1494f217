#include "engines/llama/life.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engines/llama/batching.h"

namespace tidegate::engines::llama {

Life::Life(const Parts& parts, ContextHandle context)
    : parts_(parts), context_(std::move(context)), runner_(context_.get(), parts.sizes) {}

units::Result<std::unique_ptr<Life>> Life::make(const Parts& parts) {
  units::Result<ContextHandle> context = make_context(parts.model, parts.sizes);
  if (!context) return tl::unexpected(context.error());
  return std::unique_ptr<Life>(new Life(parts, std::move(*context)));
}

units::Result<Calibration> Life::calibrate(units::Nanos budget) {
  const Sizes& s = parts_.sizes;
  const TrialLimits limits{.max_sequences = s.max_sequences,
                           .max_step_tokens = s.max_step_tokens,
                           .max_context = s.max_context,
                           .kv_tokens = s.kv_tokens};
  const Trials trials =
      run_trials(limits, budget, [this](const std::vector<TrialRow>& rows, const RowFill& fill) {
        return runner_.trial(rows, fill, parts_.now);
      });
  runner_.clear();
  const units::Result<fitting::StepLawFit> fit = calibrated_law(trials.samples);
  if (!fit) return tl::unexpected(fit.error());
  return Calibration{*fit, trials.fill};
}

void Life::serve(const domain::EngineSpec& spec, const RowFill& fill, Sink& sink) {
  engine_ = spec.id;
  runner_.fill_rows(fill);
  scheduler_.emplace(batching(spec, retention(parts_.sizes)), parts_.step_policy);
  sink_ = &sink;
}

bool Life::valid(const domain::Assign& assign, const Generation* generation) const {
  if (generation == nullptr || generation->prompt.empty()) return false;
  const auto& prompt = generation->prompt;
  const domain::Footprint& size = assign.request.footprint;
  if (static_cast<std::int64_t>(prompt.size()) != size.prompt.value()) return false;
  const std::int32_t vocabulary = parts_.tokenizer.vocabulary();
  return std::all_of(prompt.begin(), prompt.end(),
                     [vocabulary](Token t) { return t >= 0 && t < vocabulary; });
}

void Life::submit(const domain::Assign& assign,
                  const std::shared_ptr<const Generation>& generation) {
  if (!valid(assign, generation.get())) {
    sink_->on_event(domain::Failed{assign.ref, domain::Reason::kEngineError});
    return;
  }
  // A doubled submit finds its try and changes nothing; the batch tier counts it.
  tries_.try_emplace(key(assign.ref), assign, generation, parts_.tokenizer.vocabulary(),
                     entropy_());
  scheduler_->submit(assign, parts_.now());
  dispatch(scheduler_->drain_events());
}

void Life::abort(const domain::AttemptRef& ref) {
  scheduler_->abort(ref, parts_.now());
  dispatch(scheduler_->drain_events());
}

void Life::abort_all(domain::Outcome outcome) {
  scheduler_->abort_all(outcome, parts_.now());
  dispatch(scheduler_->drain_events());
}

void Life::fail_all() {
  for (const auto& entry : tries_) {
    sink_->on_event(domain::Failed{entry.second.ref(), domain::Reason::kEngineError});
  }
  tries_.clear();
}

StepOutcome Life::step() {
  const batch::StepPlan& plan = scheduler_->compose(parts_.now());
  if (!runner_.arrange(plan, scheduler_->kv())) return StepOutcome::kFatal;
  if (plan.idle()) {
    dispatch(scheduler_->drain_events());
    return StepOutcome::kIdle;
  }
  const units::Instant start = parts_.now();
  const StepStatus status = runner_.compute(plan, [this](const batch::Row& row) {
    return tries_.at(key(row.ref)).tokens(row.from.value(), row.count.value());
  });
  if (status == StepStatus::kFatal) return StepOutcome::kFatal;
  if (status != StepStatus::kDone) {
    const auto fault =
        status == StepStatus::kNoMemory ? batch::StepFault::kNoMemory : batch::StepFault::kBroken;
    dispatch(scheduler_->fail_step(plan.number, fault, parts_.now()));
    return StepOutcome::kWorked;
  }
  worked_ = true;
  batch::StepResult result = draw(plan);
  const units::Instant end = parts_.now();
  result.duration = end - start;
  sink_->on_step(engine_, result.duration);
  dispatch(scheduler_->complete(result, end));
  return StepOutcome::kWorked;
}

batch::StepResult Life::draw(const batch::StepPlan& plan) {
  batch::StepResult result;
  result.number = plan.number;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const batch::Row& row = plan.rows[i];
    if (!row.samples) continue;
    Try& live = tries_.at(key(row.ref));
    Drawn drawn = live.draw(context_.get(), parts_.tokenizer, runner_.output_of(i));
    result.sampled.push_back({row.ref, drawn.ended});
    const bool empty =
        drawn.delta.text.empty() && drawn.delta.tokens.empty() && !drawn.delta.finish;
    if (!empty) sink_->on_text(row.ref, std::move(drawn.delta));
  }
  return result;
}

void Life::dispatch(std::span<const batch::EngineEvent> events) {
  for (const batch::EngineEvent& event : events) {
    std::visit([this](const auto& e) { sink_->on_event(e); }, event);
    if (const auto* finished = std::get_if<domain::Finished>(&event)) forget(finished->ref);
    if (const auto* failed = std::get_if<domain::Failed>(&event)) forget(failed->ref);
  }
}

}  // namespace tidegate::engines::llama
