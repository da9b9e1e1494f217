#include "gateway/decision_loop.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "gateway/clock.h"
#include "gateway/pool_setup.h"

namespace tidegate::gateway {
namespace {

// How often callers who wait for their first text are looked after.
constexpr units::Nanos kRound = units::milliseconds(100);

}  // namespace

DecisionLoop::DecisionLoop(const DecisionParts& parts)
    : parts_(parts),
      settings_(parts.settings),
      scheduler_(make_scheduler(config())),
      lengths_(config().classes.size(), config().models.size()) {}

void DecisionLoop::run() {
  std::vector<Message> messages;
  while (parts_.mailbox.take(messages, std::min(wake_, next_round_))) {
    for (Message& message : messages) handle(message);
    now_ = std::max(now_, now());
    if (now_ >= wake_) {
      wake_ = units::Instant::never();
      step(domain::Tick{});
    }
    if (now_ >= next_round_) tell_silent();
    if (!live_.empty() || when_idle_.empty()) continue;
    for (const auto& then : std::exchange(when_idle_, {})) then();
  }
}

void DecisionLoop::handle(Message& message) {
  now_ = std::max(now_, now());
  if (auto* submission = std::get_if<Submission>(&message)) {
    submit(*submission);
  } else if (const auto* event = std::get_if<domain::Event>(&message)) {
    note(*event);
    step(*event);
  } else {
    std::get<Visit>(message)(*this);
  }
}

void DecisionLoop::submit(Submission& submission) {
  for (std::size_t i = 0; i < submission.lanes.size(); ++i) {
    Lane& lane = submission.lanes[i];
    lane.request.promise = submission.terms.promise(lane.request.arrival);
    lengths_.fill(lane.request);
    const domain::Request& request = lane.request;
    LiveRequest live;
    live.call = submission.call;
    live.lane = i;
    live.generation = std::move(lane.generation);
    live.tenant = request.tenant;
    live.service_class = request.service_class;
    live.model = request.model;
    live.arrival = request.arrival;
    live.promise = request.promise;
    live.max_output = request.footprint.max_output;
    live_.emplace(request.id, std::move(live));
    waiting_.insert(request.id);
    silent_.insert(request.id);
    log_.arrived(request);
  }
  for (Lane& lane : submission.lanes) step(domain::Arrived{std::move(lane.request)});
  submission.call->tell(now_);  // when it is held, at once
  next_round_ = std::min(next_round_, now_ + kRound);
}

void DecisionLoop::step(const domain::Event& event) {
  const units::Instant before = now();
  const auto& decisions = scheduler_->step(event, now_);
  parts_.metrics.decision(now() - before);
  parts_.journal.record(now_, event, decisions);
  for (const domain::Decision& decision : decisions) {
    log_.decided(decision, now_);
    perform(decision);
  }
}

void DecisionLoop::note(const domain::Event& event) {
  if (const auto* produced = std::get_if<domain::TokensProduced>(&event)) {
    note_tokens(*produced);
  } else if (const auto* finished = std::get_if<domain::Finished>(&event)) {
    if (LiveRequest* live = find(finished->ref)) live->usage = finished->usage;
  } else if (const auto* failed = std::get_if<domain::Failed>(&event)) {
    if (LiveRequest* live = find(failed->ref)) live->ref.reset();
  } else if (const auto* joined = std::get_if<domain::EngineJoined>(&event)) {
    note_engine(joined->spec);
  } else if (const auto* lost = std::get_if<domain::EngineLost>(&event)) {
    note_engine(*lost);
  } else if (const auto* report = std::get_if<domain::StateReport>(&event)) {
    const auto found = up_.find(report->engine);
    if (found == up_.end()) return;
    reports_[report->engine] = *report;
    parts_.metrics.engine_report(*report, found->second.limits.kv_blocks);
  }
}

void DecisionLoop::note_tokens(const domain::TokensProduced& produced) {
  LiveRequest* live = find(produced.ref);
  if (live == nullptr || produced.count.value() <= 0) return;
  if (!live->first_token) {
    live->first_token = now_;
    live->usage.prompt = units::Tokens(static_cast<std::int64_t>(live->generation->prompt.size()));
    parts_.metrics.first_token(now_ - live->arrival);
  } else {
    parts_.metrics.token_gap(now_ - live->last_token, produced.count);
  }
  live->last_token = now_;
  live->usage.output += produced.count;
  const std::int64_t newest = std::max<std::int64_t>(live->usage.output.value() - 1, 0);
  live->in_time = live->in_time && now_ <= live->promise.token_due(newest);
}

void DecisionLoop::note_engine(const domain::EngineSpec& joined) {
  up_[joined.id] = joined;
  if (on_join_) on_join_(joined);
  parts_.metrics.engine_health(joined.id, true);
}

void DecisionLoop::note_engine(const domain::EngineLost& lost) {
  up_.erase(lost.engine);
  parts_.metrics.engine_health(lost.engine, false);
}

bool DecisionLoop::ready() const {
  if (draining_) return false;
  return std::all_of(config().models.begin(), config().models.end(), [this](const auto& m) {
    return std::any_of(up_.begin(), up_.end(),
                       [&m](const auto& each) { return each.second.model == m.id; });
  });
}

bool DecisionLoop::reconfigure(SettingsPtr settings, const std::string& text) {
  pool::PoolConfig pool = pool_config(settings->config);
  if (!scheduler_->reconfigure(pool)) return false;
  settings_ = std::move(settings);
  lengths_.grow(config().classes.size());
  parts_.journal.configured({text, config().server.policy.name, std::move(pool)});
  step(domain::Tick{});  // releases those who may run by the new limits
  return true;
}

void DecisionLoop::drain(bool abandon) {
  draining_ = true;
  step(domain::DrainRequested{abandon});
}

void DecisionLoop::when_idle(std::function<void()> then) {
  if (live_.empty()) {
    then();
  } else {
    when_idle_.push_back(std::move(then));
  }
}

void DecisionLoop::tell_silent() {
  std::set<const Call*> told;
  std::erase_if(silent_, [&](units::RequestId id) {
    Call* call = find(id)->call.get();
    return told.insert(call).second && !call->tell(now_);
  });
  next_round_ = silent_.empty() ? units::Instant::never() : now_ + kRound;
}

void DecisionLoop::set_gauges() {
  std::vector<std::int64_t> depth(config().classes.size());
  for (const units::RequestId id : waiting_) ++depth[find(id)->service_class.value()];
  for (std::size_t i = 0; i < depth.size(); ++i) {
    parts_.metrics.queue_depth(config().classes[i].name, depth[i]);
  }
  parts_.metrics.held(static_cast<std::int64_t>(waiting_.size()));
  for (const pool::EngineView& view : scheduler_->engines()) {
    const units::Tokens held = view.load(domain::Tier::kBestEffort).held;
    const units::Blocks reserved(held / view.spec().kv.block_tokens);
    parts_.metrics.engine_ledger(view.spec().id, reserved, view.pledges());
  }
}

const domain::StateReport* DecisionLoop::report(units::EngineId id) const {
  const auto found = reports_.find(id);
  return found == reports_.end() ? nullptr : &found->second;
}

// Null for a try that is not the live one: what it says is late (invariant S5).
LiveRequest* DecisionLoop::find(const domain::AttemptRef& ref) {
  LiveRequest* live = find(ref.request);
  return live != nullptr && live->ref == ref ? live : nullptr;
}

LiveRequest* DecisionLoop::find(units::RequestId id) {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : &found->second;
}

}  // namespace tidegate::gateway
