#include "world.h"

#include <algorithm>
#include <iterator>

#include "journal/text.h"

namespace tidegate::swarm {

using domain::AttemptRef;
using domain::Event;
using units::EngineId;
using units::Instant;
using units::milliseconds;
using units::Nanos;
using units::Ppm;
using units::RequestId;
using units::Tokens;

namespace {

constexpr std::size_t kRecentSteps = 12;
// Far more than any world needs: one that is not over by then never ends.
constexpr std::int64_t kActionsMax = 20'000;

domain::Promise moved(domain::Promise promise, Instant to) {
  const Nanos by = to - Instant(0);
  promise.first_token_due = promise.first_token_due + by;
  promise.total_due = promise.total_due + by;
  return promise;
}

const AttemptRef* ref_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> const AttemptRef* {
        if constexpr (requires { e.ref; }) {
          return &e.ref;
        } else {
          return nullptr;
        }
      },
      event);
}

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)),
      prng_(options_.seed),
      knobs_(draw_knobs(prng_)),
      config_(draw_pool(prng_, knobs_)),
      pool_(config_),
      oracle_(config_) {
  for (std::int64_t i = 0; i < knobs_.engines; ++i) {
    const EngineId id(static_cast<std::uint64_t>(i));
    Engine& engine = engines_.emplace_back();
    engine.spec = draw_engine(prng_, knobs_, id);
    engine.config = draw_batch(prng_, engine.spec);
  }
}

Outcome World::run() {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (prng_.below(8) == 0) {
      at(now_ + milliseconds(prng_.between(1, 2'000)), Restart{i});
    } else {
      join(i);
    }
  }
  at(now_, ArriveNext{});
  std::int64_t actions = 0;
  while (!failed() && run_next()) {
    if (++actions > kActionsMax) note({{invariants::Invariant::kL4Wake, "the world never ends"}});
  }
  if (!failed()) check_end();
  for (const Engine& engine : engines_) {
    if (!engine.model) continue;
    outcome_.engine_steps += engine.model->scheduler().counters().steps;
  }
  outcome_.digest = digest_.value();
  for (const journal::Step& step : recent_) outcome_.story += journal::to_text(step);
  return std::move(outcome_);
}

void World::at(Instant when, Action action) {
  agenda_.emplace(std::pair(std::max(when, now_), next_action_++), std::move(action));
}

// The next thing that happens: the pool's wake-up when it has come, else the head of the agenda.
bool World::run_next() {
  const Instant wake = oracle_.wake_at();
  const bool alarm =
      wake != Instant::never() && (agenda_.empty() || wake <= agenda_.begin()->first.first);
  if (!alarm && agenda_.empty()) return false;
  if (alarm) {
    now_ = std::max(now_, wake);
    tell_pool(domain::Tick{});
    return true;
  }
  const auto head = agenda_.extract(agenda_.begin());
  now_ = head.key().first;
  std::visit([this](const auto& action) { perform(action); }, head.mapped());
  return true;
}

void World::perform(const ArriveNext& /*action*/) {
  domain::Request request = draw_request(prng_, knobs_, config_);
  request.id = RequestId(next_request_++);
  request.arrival = now_;
  request.promise = moved(request.promise, now_);
  const std::int64_t output = prng_.between(1, request.footprint.max_output.value() * 3 / 2);
  sizes_[request.id] = {request.footprint.prompt.value(), output};
  tell_pool(domain::Arrived{request});
  if (prng_.chance(knobs_.cancel)) {
    at(now_ + milliseconds(prng_.between(0, 1'000)), ToPool{domain::CallerLeft{request.id}});
  }
  make_trouble();
  if (static_cast<std::int64_t>(next_request_) <= knobs_.arrivals) {
    at(now_ + Nanos(prng_.between(0, knobs_.gap_max.value())), ArriveNext{});
  } else {
    heal();
  }
}

void World::perform(const ToPool& action) {
  tell_pool(action.event);
}

// A message to a life that is over reaches nobody.
void World::perform(const ToEngine& action) {
  const AttemptRef& ref =
      std::visit([](const auto& m) -> const AttemptRef& { return m.ref; }, action.message);
  const auto index = static_cast<std::size_t>(ref.engine.value());
  Engine& engine = engines_[index];
  if (!engine.model || (engine.spec.epoch != ref.epoch && prng_.below(2) == 0)) return;
  if (const auto* assign = std::get_if<domain::Assign>(&action.message)) {
    engine.model->submit(*assign, now_);
  } else {
    engine.model->abort(ref, now_);
  }
  serve(index);
}

void World::perform(const StepEnds& action) {
  Engine& engine = engines_[action.engine];
  if (!engine.model || engine.spec.epoch != action.epoch) return;
  engine.model->finish_step(now_);
  if (!healed_ && prng_.chance(knobs_.rogue)) talk_nonsense(action.engine);
  if (prng_.below(16) == 0) {
    send_up(action.engine, engine.model->scheduler().report(now_));
  }
  serve(action.engine);
}

void World::perform(const Restart& action) {
  Engine& engine = engines_[action.engine];
  if (engine.model) {  // after a drain: what still runs is ended first
    engine.model->abort_all(domain::Outcome::kShutdown, now_);
    serve(action.engine);
    crash(action.engine);
    return;
  }
  engine.spec.epoch = units::Epoch(engine.spec.epoch.value() + 1);
  join(action.engine);
}

void World::join(std::size_t index) {
  Engine& engine = engines_[index];
  engine.config.spec = engine.spec;
  EngineTruth truth{engine.spec.law, knobs_.noise, healed_ ? Ppm(0) : knobs_.step_fault};
  if (knobs_.wrong_law) truth.law.base_fs *= prng_.between(1, 4);
  engine.model = std::make_unique<EngineModel>(
      EngineModel::Options{engine.config, truth, prng_.next(), &sizes_, options_.batch_tamper});
  send_up(index, domain::EngineJoined{engine.spec});
}

// Tells the pool what the engine said, and lets it go on.
void World::serve(std::size_t index) {
  EngineModel& model = *engines_[index].model;
  if (const auto end = model.start_step(now_)) at(*end, StepEnds{index, model.spec().epoch});
  for (const Event& event : model.take_events()) send_up(index, event);
  note(model.take_violations());
}

void World::send_up(std::size_t index, const Event& event) {
  Engine& engine = engines_[index];
  engine.last_up = std::max(engine.last_up, now_ + delay());
  at(engine.last_up, ToPool{event});
  const bool countable = std::holds_alternative<domain::TokensProduced>(event);
  if (!countable && prng_.chance(knobs_.duplicate)) at(engine.last_up + delay(), ToPool{event});
  const AttemptRef* ref = ref_of(event);
  if (std::holds_alternative<domain::Finished>(event) && prng_.chance(knobs_.duplicate)) {
    at(engine.last_up, ToPool{domain::TokensProduced{*ref, Tokens(1)}});
  }
}

void World::send_down(std::variant<domain::Assign, domain::Abort> message, EngineId to) {
  Engine& engine = engines_[static_cast<std::size_t>(to.value())];
  engine.last_down = std::max(engine.last_down, now_ + delay());
  at(engine.last_down, ToEngine{std::move(message)});
}

Nanos World::delay() {
  return Nanos(prng_.between(0, healed_ ? 0 : knobs_.delay_max.value()));
}

void World::tell_pool(const Event& event) {
  const auto decisions = pool_.step(event, now_);
  PoolStep step{{now_, event, {decisions.begin(), decisions.end()}}, invariants::view_of(pool_)};
  digest_.add(step.step.decisions);
  outcome_.events += 1;
  for (const domain::Decision& decision : step.step.decisions) {
    if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
      send_down(*assign, assign->ref.engine);
    } else if (const auto* abort = std::get_if<domain::Abort>(&decision)) {
      send_down(*abort, abort->ref.engine);
    } else if (const auto* end = std::get_if<domain::End>(&decision)) {
      outcome_.ends[end->outcome] += 1;
    }
  }
  if (options_.watch) options_.watch(step.step);
  if (options_.pool_tamper) options_.pool_tamper(step);
  note(oracle_.check_step(now_, event, step.step.decisions, step.view));
  recent_.push_back(std::move(step.step));
  if (recent_.size() > kRecentSteps) recent_.erase(recent_.begin());
}

void World::make_trouble() {
  const auto any = static_cast<std::size_t>(prng_.below(engines_.size()));
  if (prng_.chance(knobs_.crash)) crash(any);
  if (prng_.chance(knobs_.drain)) drain(any);
}

void World::crash(std::size_t index) {
  Engine& engine = engines_[index];
  if (!engine.model) return;
  engine.model.reset();
  if (!prng_.chance(knobs_.silent)) {
    send_up(index, domain::EngineLost{engine.spec.id, engine.spec.epoch});
  }
  at(now_ + milliseconds(prng_.between(0, 1'500)), Restart{index});
}

void World::drain(std::size_t index) {
  Engine& engine = engines_[index];
  if (!engine.model) return;
  send_up(index, domain::EngineDraining{engine.spec.id, engine.spec.epoch});
  at(now_ + milliseconds(prng_.between(0, 1'500)), Restart{index});
}

// What no engine should say: of a live try or of one that nobody knows.
void World::talk_nonsense(std::size_t index) {
  const auto tries = engines_[index].model->scheduler().sequences();
  AttemptRef ref{RequestId(prng_.below(50)), units::Attempt(prng_.below(3)),
                 EngineId(prng_.below(6)), units::Epoch(prng_.below(3))};
  if (!tries.empty() && prng_.below(2) == 0) ref = tries[prng_.below(tries.size())].ref;
  switch (prng_.below(4)) {
    case 0:
      return send_up(index, domain::TokensProduced{ref, Tokens(prng_.between(-2, 0))});
    case 1:
      return send_up(index, domain::TokensProduced{ref, Tokens::max()});
    case 2:
      return send_up(index, domain::Failed{ref, domain::Reason::kEngineError});
    default:
      return send_up(index, domain::EngineLost{ref.engine, units::Epoch(0)});
  }
}

// Phase B: no more trouble. Engines that drain or are down come back by what is on the agenda.
void World::heal() {
  healed_ = true;
  for (Engine& engine : engines_) {
    if (engine.model) engine.model->heal();
  }
  if (!knobs_.pool_drains) return;
  at(now_ + milliseconds(prng_.between(0, 500)), ToPool{domain::DrainRequested{false}});
  at(now_ + milliseconds(prng_.between(500, 4'000)), ToPool{domain::DrainRequested{true}});
}

void World::check_end() {
  using invariants::Invariant;
  const invariants::PoolView view = invariants::view_of(pool_);
  if (!view.requests.empty()) {
    note({{Invariant::kL4Wake,
           "request " + std::to_string(view.requests[0].id.value()) + " never ended"}});
  }
  for (const auto& engine : view.engines) {
    if (engine.tries.empty()) continue;
    note({{Invariant::kS7Cancel,
           "engine " + std::to_string(engine.id.value()) + " still has tries booked"}});
  }
  for (const Engine& engine : engines_) {
    if (!engine.model) continue;
    const batch::BatchScheduler& scheduler = engine.model->scheduler();
    if (!scheduler.has_work() && scheduler.kv().referenced().value() == 0) continue;
    note({{Invariant::kS7Cancel,
           "engine " + std::to_string(engine.spec.id.value()) + " still holds something"}});
  }
}

void World::note(invariants::Violations found) {
  outcome_.violations.insert(outcome_.violations.end(), std::make_move_iterator(found.begin()),
                             std::make_move_iterator(found.end()));
}

}  // namespace tidegate::swarm
