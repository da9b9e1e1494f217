#include "sim/modelled_engine.h"

#include <algorithm>

#include "cost/step_law.h"
#include "units/check.h"

namespace tidegate::sim {
namespace {

// What ends a try, if this event does.
const domain::AttemptRef* ended_by(const batch::EngineEvent& event) {
  if (const auto* finished = std::get_if<domain::Finished>(&event)) return &finished->ref;
  if (const auto* failed = std::get_if<domain::Failed>(&event)) return &failed->ref;
  return nullptr;
}

}  // namespace

ModelledEngine::ModelledEngine(const EngineModel& model, const Options& options)
    : model_(model),
      noise_(options.physics.step_noise),
      prng_(options.seed),
      batch_(model.batch, options.policy) {}

void ModelledEngine::submit(const domain::Assign& assign, units::Tokens output,
                            units::Instant now) {
  truths_[assign.ref.request] = {std::max(output, units::Tokens(1)), units::Tokens(0)};
  batch_.submit(assign, now);
}

void ModelledEngine::abort(const domain::AttemptRef& ref, units::Instant now) {
  batch_.abort(ref, now);
}

bool ModelledEngine::begin_step(units::Instant now) {
  if (running_ || !batch_.has_work()) return false;
  const batch::StepPlan& plan = batch_.compose(now);
  if (plan.idle()) return false;
  step_number_ = plan.number;
  result_.sampled.clear();
  for (const batch::Row& row : plan.rows) {
    if (!row.samples) continue;
    Truth& truth = truths_.at(row.ref.request);
    truth.produced += units::Tokens(1);
    result_.sampled.push_back({row.ref, truth.produced >= truth.output});
  }
  const units::Nanos lawful = units::scaled(cost::predict(model_.true_law, plan.shape), slowdown_);
  const units::Ppm factor(units::kMillion + prng_.between(-noise_.value(), noise_.value()));
  step_start_ = now;
  step_end_ = now + std::max(units::Nanos(1), units::scaled(lawful, factor));
  running_ = true;
  return true;
}

std::span<const batch::EngineEvent> ModelledEngine::finish_step(units::Instant now) {
  TIDEGATE_CHECK(running_ && now == step_end_);
  running_ = false;
  busy_ += step_end_ - step_start_;
  result_.number = step_number_;
  result_.duration = step_end_ - step_start_;
  const auto events = batch_.complete(result_, now);
  for (const batch::EngineEvent& event : events) {
    if (const auto* ref = ended_by(event)) truths_.erase(ref->request);
  }
  return events;
}

}  // namespace tidegate::sim
