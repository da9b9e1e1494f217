#include "engine_model.h"

#include <iterator>

namespace tidegate::swarm {

using invariants::Violations;
using units::Instant;
using units::Nanos;
using units::Ppm;

EngineModel::EngineModel(Options options)
    : options_(std::move(options)),
      scheduler_(options_.config),
      oracle_(options_.config),
      prng_(options_.seed) {}

void EngineModel::note(Violations found) {
  violations_.insert(violations_.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
}

void EngineModel::settle(const batch::StepPlan* plan, Events events, Instant now) {
  BatchStep step;
  if (plan != nullptr) step.plan = *plan;
  step.events.assign(events.begin(), events.end());
  for (const auto& event : step.events) {
    std::visit([this](const auto& e) { said_.emplace_back(e); }, event);
  }
  step.view = invariants::view_of(scheduler_);
  if (options_.tamper) options_.tamper(step);
  if (step.plan) note(oracle_.compose(*step.plan, now));
  note(oracle_.events(step.events));
  note(oracle_.state(step.view));
}

void EngineModel::submit(const domain::Assign& assign, Instant now) {
  scheduler_.submit(assign, now);
  note(oracle_.submit(assign, now));
  settle(nullptr, scheduler_.drain_events(), now);
}

void EngineModel::abort(const domain::AttemptRef& ref, Instant now) {
  scheduler_.abort(ref, now);
  note(oracle_.abort(ref, now));
  settle(nullptr, scheduler_.drain_events(), now);
}

void EngineModel::abort_all(domain::Outcome outcome, Instant now) {
  scheduler_.abort_all(outcome, now);
  note(oracle_.abort_all(outcome, now));
  settle(nullptr, scheduler_.drain_events(), now);
}

std::optional<Instant> EngineModel::start_step(Instant now) {
  if (running_ || !scheduler_.has_work()) return std::nullopt;
  const batch::StepPlan& plan = scheduler_.compose(now);
  digest_.add(plan);
  if (!plan.idle()) running_ = plan;
  settle(&plan, scheduler_.drain_events(), now);
  if (!running_) return std::nullopt;
  const std::int64_t noise = options_.truth.noise.value();
  const Ppm factor(units::kMillion + prng_.between(-noise, noise));
  const Nanos took = units::scaled(cost::predict(options_.truth.law, running_->shape), factor);
  return now + std::max(Nanos(1), took);
}

batch::StepResult EngineModel::perform() {
  batch::StepResult result;
  result.number = running_->number;
  result.duration = cost::predict(options_.truth.law, running_->shape);
  for (const batch::Row& row : running_->rows) {
    if (!row.samples) continue;
    const TrueSize& size = options_.sizes->at(row.ref.request);
    const std::int64_t produced = (row.from + row.count).value() - size.prompt + 1;
    result.sampled.push_back({row.ref, produced >= size.output});
  }
  return result;
}

void EngineModel::finish_step(Instant now) {
  if (prng_.chance(options_.truth.fault)) {
    const auto fault =
        prng_.below(2) == 0 ? batch::StepFault::kNoMemory : batch::StepFault::kBroken;
    const std::int64_t number = running_->number;
    running_.reset();
    const Events events = scheduler_.fail_step(number, fault, now);
    note(oracle_.fail_step(fault, now));
    settle(nullptr, events, now);
  } else {
    const batch::StepResult result = perform();
    running_.reset();
    const Events events = scheduler_.complete(result, now);
    note(oracle_.complete(result, now));
    settle(nullptr, events, now);
  }
}

}  // namespace tidegate::swarm
