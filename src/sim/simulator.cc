#include "sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "cost/length_forecast.h"
#include "pool/pool_scheduler.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::sim {

using domain::Event;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

std::unique_ptr<pool::Scheduler> make_pool(const World& world) {
  if (world.deciders.pool) return world.deciders.pool(world.pool);
  return std::make_unique<pool::PoolScheduler>(world.pool);
}

}  // namespace

Simulator::Simulator(World world, Arrivals arrivals, std::vector<std::string> model_names)
    : world_(std::move(world)),
      arrivals_(std::move(arrivals)),
      pool_(make_pool(world_)),
      lengths_(world_.pool.classes.size(), world_.pool.models.size()),
      log_(world_, std::move(model_names)),
      timeline_(empty_timeline()) {
  units::Prng seeds(world_.seed);
  for (EngineModel& model : world_.engines) {
    TIDEGATE_CHECK(model.batch.spec.id == units::EngineId(engines_.size()));
    model.batch.spec.own_batching = model.batch.spec.own_batching && world_.deciders.own_batching;
    engine_seeds_.push_back(seeds.next());
    engines_.push_back(make_engine(engines_.size()));
    kv_.capacity_blocks += model.batch.spec.limits.kv_blocks.value();
  }
  reports_.resize(engines_.size());
  down_by_.resize(engines_.size(), 0);
}

std::unique_ptr<ModelledEngine> Simulator::make_engine(std::size_t engine) {
  const EngineModel& model = world_.engines[engine];
  const std::uint64_t seed = engine_seeds_[engine] + model.batch.spec.epoch.value();
  return std::make_unique<ModelledEngine>(
      model, ModelledEngine::Options{world_.physics, seed, world_.deciders.engine});
}

// One group for each name of a GPU, in order of appearance.
report::Timeline Simulator::empty_timeline() {
  std::vector<report::Timeline::Group> groups;
  for (const EngineModel& model : world_.engines) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& g) { return g.name == model.gpu; });
    if (group == groups.end()) group = groups.insert(group, {model.gpu, 0, units::Blocks(0)});
    group->engines += 1;
    group->kv_capacity += model.batch.spec.limits.kv_blocks;
    group_of_engine_.push_back(static_cast<std::size_t>(group - groups.begin()));
  }
  return report::Timeline(std::move(groups), Instant(0) + world_.warmup);
}

report::Run Simulator::run() {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    tell(domain::EngineJoined{world_.engines[i].batch.spec});
    agenda_.put(Instant(0) + world_.physics.telemetry_period, Happening::kTelemetry, i);
  }
  schedule_arrival();
  schedule_faults();
  const Instant end = Instant(0) + world_.horizon;
  while (!agenda_.empty() && agenda_.next_at() <= end) {
    const Item item = agenda_.take();
    now_ = item.at;
    happen(item);
  }
  log_.close();
  return summary();
}

report::Run Simulator::summary() const {
  report::Run run;
  log_.fill(run);
  run.seed = world_.seed;
  run.digest = fmt::format("{:016x}", digest_.value());
  run.simulated_seconds = static_cast<double>((world_.horizon - world_.warmup).value()) / 1e9;
  run.decisions = decisions_;
  run.decision_time = decision_time_;
  run.engine_steps = steps_;
  run.kv = kv_;
  run.timeline = timeline_;
  run.fairness.max_service_gap = static_cast<double>(timeline_.widest_service_gap()) / 1e9;
  Nanos busy = retired_.busy;
  run.totals.preemptions += retired_.preemptions;
  run.totals.recomputed_tokens += retired_.recomputed;
  for (const auto& engine : engines_) {
    if (!engine) continue;
    busy += engine->busy();
    run.totals.preemptions += engine->batch().counters().preemptions;
    run.totals.recomputed_tokens += engine->batch().counters().recomputed_tokens;
  }
  const double available =
      static_cast<double>(world_.horizon.value()) * static_cast<double>(engines_.size());
  run.utilisation = available > 0 ? static_cast<double>(busy.value()) / available : 0;
  return run;
}

void Simulator::happen(const Item& item) {
  switch (item.what) {
    case Happening::kArrival: {
      WorldRequest arrival = std::move(*next_arrival_);
      arrive(std::move(arrival));
      return schedule_arrival();
    }
    case Happening::kHangUp:
      if (log_.alive(units::RequestId(item.subject))) {
        tell(domain::CallerLeft{units::RequestId(item.subject)});
      }
      return;
    case Happening::kDelivery:
      return deliver(item.subject);
    case Happening::kStepDone:
      return finish_step(item.subject);
    case Happening::kTelemetry:
      return send_telemetry(item.subject);
    case Happening::kReport:
      return tell(reports_[item.subject]);
    case Happening::kPoolTimer:
      if (item.at == timer_) {
        timer_ = Instant::never();
        tell(domain::Tick{});
      }
      return;
    case Happening::kFault:
      return begin_fault(item.subject);
    case Happening::kLost:
      return tell_lost(item.subject);
    case Happening::kRepair:
      return end_fault(item.subject);
    case Happening::kReturn:
      return come_back(item.subject);
  }
}

void Simulator::schedule_arrival() {
  next_arrival_ = arrivals_();
  if (next_arrival_) agenda_.put(next_arrival_->request.arrival, Happening::kArrival, 0);
}

void Simulator::forecast(WorldRequest& arrival) const {
  domain::Footprint& footprint = arrival.request.footprint;
  if (world_.known_lengths) {
    footprint.output = cost::certain(arrival.output);
  } else {
    lengths_.fill(arrival.request);
  }
  for (Tokens& length : footprint.output.lengths) {
    const std::int64_t wrong =
        units::multiply_divide(length.value(), world_.length_bias.value(), units::kMillion);
    length = std::clamp(Tokens(wrong), Tokens(1), footprint.max_output);
  }
}

void Simulator::arrive(WorldRequest arrival) {
  forecast(arrival);
  log_.arrived(arrival);
  remember(arrival);
  timeline_.at(now_).arrivals += 1;
  if (arrival.leaves != Instant::never()) {
    agenda_.put(arrival.leaves, Happening::kHangUp, arrival.request.id.value());
  }
  tell(domain::Arrived{std::move(arrival.request)});
}

void Simulator::decide(const Event& event) {
  const bool timed = clock_ && pool_steps_++ % kTimedShare == 0;
  const Instant begin = timed ? clock_() : Instant(0);
  const auto decisions = pool_->step(event, now_);
  if (timed) decision_time_.add(clock_() - begin);
  decided_.assign(decisions.begin(), decisions.end());
}

void Simulator::tell(Event event) {
  pending_.push_back(std::move(event));
  if (telling_) return;
  telling_ = true;
  while (!pending_.empty()) {
    const Event next = std::move(pending_.front());
    pending_.pop_front();
    decide(next);
    digest_.add(decided_);
    decisions_ += static_cast<std::int64_t>(decided_.size());
    if (observer_) observer_(*pool_, next, decided_, now_);
    for (const domain::Decision& decision : decided_) perform(decision);
  }
  telling_ = false;
}

void Simulator::post(Delivery delivery) {
  std::uint64_t index = deliveries_.size();
  if (free_deliveries_.empty()) {
    deliveries_.push_back(std::move(delivery));
  } else {
    index = free_deliveries_.back();
    free_deliveries_.pop_back();
    deliveries_[index] = std::move(delivery);
  }
  agenda_.put(now_ + world_.physics.dispatch_lag, Happening::kDelivery, index);
}

void Simulator::set_timer(Instant at) {
  timer_ = at == Instant::never() ? at : std::max(at, now_);
  if (timer_ != Instant::never()) agenda_.put(timer_, Happening::kPoolTimer, 0);
}

void Simulator::perform(const domain::Decision& decision) {
  if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
    const auto engine = static_cast<std::size_t>(assign->ref.engine.value());
    log_.assigned(assign->ref.request, engine, now_);
    post({engine, *assign, log_.true_output(assign->ref.request)});
  } else if (const auto* abort = std::get_if<domain::Abort>(&decision)) {
    post({static_cast<std::size_t>(abort->ref.engine.value()), *abort, units::Tokens(0)});
  } else if (const auto* admit = std::get_if<domain::Admit>(&decision)) {
    log_.admitted(admit->request);
  } else if (const auto* downgrade = std::get_if<domain::Downgrade>(&decision)) {
    log_.downgraded(downgrade->request);
  } else if (const auto* end = std::get_if<domain::End>(&decision)) {
    log_.ended(*end, now_);
    refused(*end);
    timeline_.at(now_).ended(end->outcome, end->reason);
  } else if (const auto* wake = std::get_if<domain::WakeAt>(&decision)) {
    set_timer(wake->at);
  }
}

void Simulator::deliver(std::uint64_t index) {
  const Delivery delivery = std::move(deliveries_[index]);
  free_deliveries_.push_back(index);
  if (!engines_[delivery.engine]) return;  // it is down, and its loss ends the try
  ModelledEngine& engine = *engines_[delivery.engine];
  if (const auto* assign = std::get_if<domain::Assign>(&delivery.message)) {
    engine.submit(*assign, delivery.output, now_);
  } else {
    engine.abort(std::get<domain::Abort>(delivery.message).ref, now_);
  }
  forward(engine.drain_events());
  kick(delivery.engine);
}

void Simulator::kick(std::size_t engine) {
  if (engines_[engine]->begin_step(now_)) {
    agenda_.put(engines_[engine]->step_end(), Happening::kStepDone, engine);
  } else {
    forward(engines_[engine]->drain_events());
  }
}

void Simulator::finish_step(std::size_t engine) {
  const auto& stepping = engines_[engine];
  // A step of a life that has ended.
  if (!stepping || !stepping->running() || stepping->step_end() != now_) return;
  ++steps_;
  const Nanos busy_before = engines_[engine]->busy();
  const auto events = engines_[engine]->finish_step(now_);
  timeline_.at(now_, group_of_engine_[engine]).busy += engines_[engine]->busy() - busy_before;
  forward(events);
  kick(engine);
}

// What the gateway learns from, too: completed lengths.
void Simulator::learn(const batch::EngineEvent& event) {
  const auto* finished = std::get_if<domain::Finished>(&event);
  if (finished == nullptr || finished->outcome != domain::Outcome::kCompleted) return;
  const units::RequestId id = finished->ref.request;
  if (!log_.alive(id)) return;
  lengths_.observe(log_.service_class(id), log_.model(id), finished->usage.output,
                   log_.max_output(id));
}

void Simulator::forward(std::span<const batch::EngineEvent> events) {
  // Copied first: telling the pool can call back into the engine that owns the span.
  const std::vector<batch::EngineEvent> copies(events.begin(), events.end());
  for (const batch::EngineEvent& event : copies) {
    if (const auto* tokens = std::get_if<domain::TokensProduced>(&event)) {
      log_.tokens(tokens->ref.request, tokens->count, now_);
      timeline_.at(now_).output += tokens->count;
    }
    learn(event);
    std::visit([&](const auto& e) { tell(Event(e)); }, event);
  }
}

// What the timeline sees of levels; the pool's once a round, with its first engine.
void Simulator::sample_levels(std::size_t engine, const domain::StateReport& report) {
  report::Slice& slice = timeline_.at(now_);
  slice.preemptions += report.preemptions_total - reports_[engine].preemptions_total;
  if (engine == 0) {
    slice.queued.sample(pool_->waiting());
    if (const auto gap = pool_->service_gap()) slice.service_gap.sample(gap->value());
  }
  report::GroupSlice& group = timeline_.at(now_, group_of_engine_[engine]);
  group.running.sample(report.running);
  group.kv_used.sample(report.kv_used.value());
}

void Simulator::send_telemetry(std::size_t engine) {
  agenda_.put(now_ + world_.physics.telemetry_period, Happening::kTelemetry, engine);
  if (!engines_[engine]) return;
  const batch::BatchScheduler& batch = engines_[engine]->batch();
  const domain::StateReport report = batch.report(now_);
  kv_.peak_blocks = std::max(kv_.peak_blocks, report.kv_used.value());
  kv_.overcommits += report.kv_used > world_.engines[engine].batch.spec.limits.kv_blocks ? 1 : 0;
  sample_levels(engine, report);
  reports_[engine] = report;
  agenda_.put(now_ + world_.physics.telemetry_lag, Happening::kReport, engine);
}

}  // namespace tidegate::sim
