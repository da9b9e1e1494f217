#include "world.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include "cost/length_forecast.h"
#include "invariants/pool_oracle.h"
#include "invariants/pool_view.h"
#include "pool/pool_scheduler.h"

namespace tidegate::pool::scenario {
namespace {

using domain::AttemptRef;
using script::Course;
using script::in_ms;
using script::Line;
using script::Script;
using units::Instant;
using units::Nanos;
using units::Tokens;

// A try on a scripted engine.
struct Running {
  domain::Assign assign;
  bool aborted = false;
};

struct ScriptedEngine {
  domain::EngineSpec spec;
  Nanos step{0};
  Nanos token{0};
  bool hung = false;
  bool alive = true;
  std::vector<Running> prefill;  // not yet begun
  bool prefilling = false;
};

// A caller of this tenant that is refused for want of capacity asks again, so many times, after the
// time that the refusal named or after one of its own.
struct Insistence {
  std::int64_t retries = 0;
  std::optional<Nanos> after;
};

struct Outcomes {
  std::int64_t arrived = 0;
  std::map<std::string, std::int64_t> ends;
  std::int64_t on_time = 0;
  Tokens tokens{0};  // prompt and output of those completed
  Nanos longest_wait{0};
  Nanos longest_refusal{0};
};

class World {
 public:
  explicit World(const Script& script) : pool_(configure(script)), oracle_(configure(script)) {
    for (const Line& line : script.settings) {
      if (line.word == "engine") add_engine(line);
      if (line.word == "callers") add_callers(line);
      if (line.word == "show") decisions_shown_ = line.has("decisions");
    }
    for (auto& [id, engine] : engines_) step(domain::EngineJoined{engine.spec});
    for (const Line& line : script.happenings) {
      at(Instant(line.at_ns), [this, line] { happen(line); });
    }
  }

  Course run() {
    while (!agenda_.empty()) {
      auto next = agenda_.begin();
      now_ = next->first.first;
      auto what = std::move(next->second);
      agenda_.erase(next);
      what();
    }
    check_empty();
    if (!decisions_shown_) summarise();
    course_.text = out_.str();
    return std::move(course_);
  }

 private:
  static PoolConfig configure(const Script& script);
  void add_engine(const Line& line);
  void add_callers(const Line& line);
  void happen(const Line& line);
  void arrive(const Line& line);
  void arrive(domain::Request request);
  void step(const domain::Event& event);
  void check(const domain::Event& event, const std::vector<domain::Decision>& decisions);
  void perform(const domain::Decision& decision);
  void perform_assign(const domain::Assign& assign);
  void perform_abort(const AttemptRef& ref);
  void perform_end(const domain::End& end);
  void measure_end(const domain::End& end, bool on_time);
  void measure(const domain::Request& request, const std::string& what, std::int64_t value);
  void measure(const domain::Request& request, const std::string& what, Nanos span) {
    measure(request, what, span.value());
  }
  void ask_again(const domain::End& end);
  void start_prefill(std::uint64_t id);
  void first_token(std::uint64_t id, const domain::Assign& assign);
  void finished(const domain::Assign& assign);
  bool running(const AttemptRef& ref) const;
  void check_empty();
  void summarise();
  void say(const std::string& text) {
    if (decisions_shown_) out_ << in_ms(now_) << " " << text << "\n";
  }
  template <class F>
  void at(Instant when, F what) {
    agenda_.emplace(std::pair{when, ++sequence_}, std::move(what));
  }

  PoolScheduler pool_;
  invariants::PoolOracle oracle_;
  Course course_;
  Instant now_;
  std::uint64_t sequence_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> agenda_;
  std::map<std::uint64_t, ScriptedEngine> engines_;
  std::map<std::uint64_t, domain::Request> requests_;
  std::map<std::uint64_t, Insistence> callers_;  // by tenant
  std::uint64_t next_retry_ = 1'000'000'000;
  std::map<std::uint64_t, AttemptRef> live_;  // tries that an engine has not ended
  std::map<std::uint64_t, domain::Event> last_event_;
  std::map<std::uint64_t, std::int64_t> ended_;
  std::map<std::uint64_t, Instant> first_token_;
  std::map<std::uint64_t, Outcomes> by_tenant_;
  std::int64_t kept_ = 0;
  bool decisions_shown_ = true;
  std::ostringstream out_;
};

domain::OnOverload overload(const std::string& text) {
  if (text == "queue") return domain::OnOverload::kQueue;
  if (text == "downgrade") return domain::OnOverload::kDowngrade;
  if (text == "reject") return domain::OnOverload::kReject;
  throw std::runtime_error("on_overload is reject, queue or downgrade: " + text);
}

domain::Tenant tenant_from(const Line& line) {
  const auto limit = [&](const std::string& key) -> std::optional<std::int64_t> {
    if (!line.values.contains(key)) return std::nullopt;
    return line.number(key, 0);
  };
  domain::Tenant tenant;
  tenant.id = units::TenantId(static_cast<std::uint64_t>(line.id));
  tenant.weight = line.number("weight", 1);
  tenant.on_overload = overload(line.text("on_overload", "reject"));
  tenant.limits.requests_per_min = limit("requests_per_min");
  if (const auto tokens = limit("tokens_per_min")) tenant.limits.tokens_per_min = Tokens(*tokens);
  tenant.limits.in_flight = limit("in_flight");
  tenant.limits.queued = limit("queued");
  return tenant;
}

PoolConfig World::configure(const Script& script) {
  PoolConfig config;
  config.models = {units::ModelId(0)};
  for (const Line& line : script.settings) {
    if (line.word == "tenant") config.tenants.push_back(tenant_from(line));
    if (line.word == "policy") {
      config.limits.max_queued = line.number("queued", config.limits.max_queued);
      config.policy.share_slack = Nanos(line.nanos("slack", config.policy.share_slack.value()));
    }
  }
  return config;
}

void World::add_engine(const Line& line) {
  ScriptedEngine engine;
  const auto id = static_cast<std::uint64_t>(line.id);
  engine.step = Nanos(line.nanos("step", 10'000'000));
  engine.token = Nanos(line.nanos("token", 100'000));
  engine.hung = line.has("hung");
  domain::EngineSpec& spec = engine.spec;
  spec.id = units::EngineId(id);
  spec.epoch = units::Epoch(1);
  spec.model = units::ModelId(0);
  spec.limits = {units::Blocks(line.number("blocks", 1'000)), line.number("sequences", 8),
                 Tokens(2'048), Tokens(line.number("context", 16'384))};
  // The law states what the engine does, times law= percent.
  const std::int64_t percent = line.number("law", 100);
  spec.law.base_fs = engine.step.value() * 10'000 * percent;
  spec.law.per_token_fs.fill(engine.token.value() * 10'000 * percent);
  // A decode costs nothing beyond the step here.
  spec.law.per_decode_fs = 0;
  spec.calibrated = !line.has("uncalibrated");
  engines_[id] = engine;
}

void World::add_callers(const Line& line) {
  Insistence callers{line.number("retries", 2), std::nullopt};
  if (line.text("after", "hint") != "hint") callers.after = Nanos(line.nanos("after", 0));
  callers_[static_cast<std::uint64_t>(line.number("tenant", 0))] = callers;
}

void World::happen(const Line& line) {
  const auto id = static_cast<std::uint64_t>(line.id);
  const auto engine = static_cast<std::uint64_t>(line.number("engine", 1));
  if (line.word == "arrive") return arrive(line);
  if (line.word == "leave") {
    say("leave " + std::to_string(id));
    return step(domain::CallerLeft{units::RequestId(id)});
  }
  if (line.word == "look") {
    out_ << in_ms(now_) << " look " << id << " kept=" << kept_ << "\n";
    return course_.measure("kept", kept_, line.id);
  }
  if (line.word == "duplicate") {
    say("duplicate " + std::to_string(id));
    return step(last_event_.at(id));
  }
  ScriptedEngine& it = engines_.at(engine);
  say(line.word + " engine=" + std::to_string(engine));
  if (line.word == "lose") {
    it.alive = false;
    it.prefill.clear();
    it.prefilling = false;
    std::erase_if(live_, [&](const auto& l) { return l.second.engine == it.spec.id; });
    return step(domain::EngineLost{it.spec.id, it.spec.epoch});
  }
  if (line.word == "join") {
    it.alive = true;
    it.spec.epoch = units::Epoch(it.spec.epoch.value() + 1);
    return step(domain::EngineJoined{it.spec});
  }
  if (line.word == "drain") return step(domain::EngineDraining{it.spec.id, it.spec.epoch});
  throw std::runtime_error("unknown happening: " + line.word);
}

void World::arrive(const Line& line) {
  domain::Request r;
  r.id = units::RequestId(static_cast<std::uint64_t>(line.id));
  r.tenant = units::TenantId(static_cast<std::uint64_t>(line.number("tenant", 0)));
  r.arrival = now_;
  r.footprint.prompt = Tokens(line.number("prompt", 100));
  r.footprint.max_output = Tokens(line.number("max", line.number("output", 10)));
  r.footprint.output = cost::certain(Tokens(line.number("output", 10)));
  const std::int64_t ttft = line.nanos("ttft", 0);
  const std::int64_t deadline = line.nanos("deadline", 0);
  if (ttft != 0) r.promise.first_token_due = now_ + Nanos(ttft);
  if (deadline != 0) r.promise.total_due = now_ + Nanos(deadline);
  r.promise.token_pace = Nanos(line.nanos("pace", 0));
  r.caller_retries = static_cast<std::uint8_t>(line.number("retries", 0));
  arrive(r);
}

void World::arrive(domain::Request request) {
  requests_[request.id.value()] = request;
  by_tenant_[request.tenant.value()].arrived += 1;
  measure(request, "arrived", 1);
  step(domain::Arrived{std::move(request)});
}

void World::step(const domain::Event& event) {
  // As everywhere, time that has come is told first.
  if (oracle_.wake_at() <= now_ && !std::holds_alternative<domain::Tick>(event)) {
    step(domain::Tick{});
  }
  const auto span = pool_.step(event, now_);
  const std::vector<domain::Decision> decisions(span.begin(), span.end());
  check(event, decisions);
  for (const domain::Decision& decision : decisions) perform(decision);
}

void World::check(const domain::Event& event, const std::vector<domain::Decision>& decisions) {
  const auto found = oracle_.check_step(now_, event, decisions, invariants::view_of(pool_));
  if (!found.empty()) out_ << in_ms(now_) << " BROKEN " << invariants::to_text(found);
}

void World::perform(const domain::Decision& decision) {
  const auto id = [](units::RequestId r) { return std::to_string(r.value()); };
  if (const auto* admit = std::get_if<domain::Admit>(&decision)) {
    say("admit " + id(admit->request) + " " + std::string(name(admit->tier)));
  } else if (const auto* hold = std::get_if<domain::Hold>(&decision)) {
    say("hold " + id(hold->request) + " " + std::string(name(hold->reason)) +
        " position=" + std::to_string(hold->position) + " eta=" + in_ms(hold->eta) +
        " until=" + in_ms(hold->hopeless_after));
    measure(requests_.at(hold->request.value()), "held", 1);
    course_.measure("waiting", pool_.waiting_room().waiting());
  } else if (const auto* end = std::get_if<domain::End>(&decision)) {
    perform_end(*end);
  } else if (const auto* downgrade = std::get_if<domain::Downgrade>(&decision)) {
    say("downgrade " + id(downgrade->request));
  } else if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
    perform_assign(*assign);
  } else if (const auto* abort = std::get_if<domain::Abort>(&decision)) {
    perform_abort(abort->ref);
  } else if (const auto* wake = std::get_if<domain::WakeAt>(&decision)) {
    at(std::max(now_, wake->at), [this] { step(domain::Tick{}); });
  }
}

void World::perform_assign(const domain::Assign& assign) {
  const std::uint64_t id = assign.ref.request.value();
  say("assign " + std::to_string(id) + " engine=" + std::to_string(assign.ref.engine.value()) +
      " try=" + std::to_string(assign.ref.attempt.value()));
  const domain::Request& r = requests_.at(id);
  Outcomes& of = by_tenant_[r.tenant.value()];
  of.longest_wait = std::max(of.longest_wait, now_ - r.arrival);
  measure(r, "wait", now_ - r.arrival);
  measure(r, "try", static_cast<std::int64_t>(assign.ref.attempt.value()));
  live_[id] = assign.ref;
  const std::uint64_t engine = assign.ref.engine.value();
  if (engines_.at(engine).hung) return;
  at(now_, [this, ref = assign.ref] {
    if (running(ref)) step(domain::Accepted{ref});
  });
  auto& queue = engines_.at(engine).prefill;
  const auto before = [](const Running& a, const Running& b) {
    const auto key = [](const Running& x) {
      return std::tuple(x.assign.tier, x.assign.request.promise.token_due(0), x.assign.ref.request);
    };
    return key(a) < key(b);
  };
  const Running added{assign};
  queue.insert(std::upper_bound(queue.begin(), queue.end(), added, before), added);
  at(now_, [this, engine] { start_prefill(engine); });
}

void World::start_prefill(std::uint64_t id) {
  ScriptedEngine& engine = engines_.at(id);
  if (engine.prefilling || engine.prefill.empty() || !engine.alive) return;
  const domain::Assign next = engine.prefill.front().assign;
  engine.prefill.erase(engine.prefill.begin());
  if (!running(next.ref)) return start_prefill(id);
  engine.prefilling = true;
  const Nanos time = engine.step + engine.token * next.request.footprint.prompt.value();
  at(now_ + time, [this, id, next] { first_token(id, next); });
}

void World::first_token(std::uint64_t id, const domain::Assign& assign) {
  ScriptedEngine& engine = engines_.at(id);
  if (!engine.alive || engine.spec.epoch != assign.ref.epoch) return;
  engine.prefilling = false;
  at(now_, [this, id] { start_prefill(id); });
  if (!running(assign.ref)) return;
  const std::uint64_t request = assign.ref.request.value();
  if (!first_token_.contains(request)) first_token_[request] = now_;
  const domain::Event event = domain::TokensProduced{assign.ref, Tokens(1)};
  last_event_[request] = event;
  step(event);
  const std::int64_t rest = assign.request.footprint.output.lengths[0].value() - 1;
  at(now_ + engine.step * rest, [this, assign] { finished(assign); });
}

void World::finished(const domain::Assign& assign) {
  if (!running(assign.ref)) return;
  const std::uint64_t request = assign.ref.request.value();
  const Tokens output = assign.request.footprint.output.lengths[0];
  if (output > Tokens(1)) step(domain::TokensProduced{assign.ref, output - Tokens(1)});
  live_.erase(request);
  domain::Finished event;
  event.ref = assign.ref;
  event.usage = {assign.request.footprint.prompt, Tokens(0), output};
  last_event_[request] = event;
  step(event);
}

void World::perform_abort(const AttemptRef& ref) {
  say("abort " + std::to_string(ref.request.value()));
  const std::uint64_t engine = ref.engine.value();
  if (engines_.at(engine).hung) return;
  at(now_ + engines_.at(engine).step, [this, ref, engine] {
    if (!running(ref) || !engines_.at(engine).alive) return;
    live_.erase(ref.request.value());
    domain::Finished event;
    event.ref = ref;
    event.outcome = domain::Outcome::kCancelled;
    last_event_[ref.request.value()] = event;
    say("confirm " + std::to_string(ref.request.value()));
    step(event);
  });
}

void World::perform_end(const domain::End& end) {
  const std::uint64_t id = end.request.value();
  const domain::Request& r = requests_.at(id);
  std::string text = std::string(name(end.outcome));
  if (end.reason != domain::Reason::kNone) text += " " + std::string(name(end.reason));
  Outcomes& of = by_tenant_[r.tenant.value()];
  of.ends[text] += 1;
  ended_[id] += 1;
  const auto first = first_token_.find(id);
  const bool on_time =
      end.outcome == domain::Outcome::kCompleted && first->second <= r.promise.token_due(0);
  if (on_time) of.on_time += 1;
  if (on_time) kept_ += 1;
  if (end.outcome == domain::Outcome::kCompleted) {
    of.tokens += r.footprint.prompt + r.footprint.output.lengths[0];
  }
  if (end.outcome == domain::Outcome::kRejectedCapacity) {
    of.longest_refusal = std::max(of.longest_refusal, now_ - r.arrival);
  }
  if (end.full != domain::Resource::kNone) text += " full=" + std::string(name(end.full));
  if (end.retry_after > Nanos(0)) text += " retry=" + in_ms(end.retry_after);
  say("end " + std::to_string(id) + " " + text);
  measure_end(end, on_time);
  ask_again(end);
}

// Those who come again are a group of their own.
void World::measure(const domain::Request& request, const std::string& what, std::int64_t value) {
  std::string group = "tenant" + std::to_string(request.tenant.value());
  if (request.caller_retries > 0) group += ".again";
  course_.measure(what, value, static_cast<std::int64_t>(request.id.value()), group);
}

void World::measure_end(const domain::End& end, bool on_time) {
  const domain::Request& r = requests_.at(end.request.value());
  measure(r, std::string(name(end.outcome)), 1);
  if (end.reason != domain::Reason::kNone) measure(r, std::string(name(end.reason)), 1);
  measure(r, "on_time", on_time ? 1 : 0);
  measure(r, "took", now_ - r.arrival);
  if (end.outcome == domain::Outcome::kRejectedCapacity) {
    measure(r, "refused_after", now_ - r.arrival);
  }
  if (end.retry_after > Nanos(0)) measure(r, "hint", end.retry_after);
  const auto first = first_token_.find(r.id.value());
  if (first != first_token_.end()) measure(r, "ttft", first->second - r.arrival);
  if (end.outcome == domain::Outcome::kCompleted) {
    measure(r, "tokens", (r.footprint.prompt + r.footprint.output.lengths[0]).value());
  }
}

void World::ask_again(const domain::End& end) {
  const domain::Request& before = requests_.at(end.request.value());
  const auto callers = callers_.find(before.tenant.value());
  if (callers == callers_.end() || end.outcome != domain::Outcome::kRejectedCapacity) return;
  if (before.caller_retries >= callers->second.retries) return;
  const Nanos after = callers->second.after.value_or(end.retry_after);
  const Nanos ttft = before.promise.first_token_due - before.arrival;
  domain::Request again = before;
  again.id = units::RequestId(next_retry_++);
  again.caller_retries += 1;
  at(now_ + after, [this, again, ttft]() mutable {
    again.arrival = now_;
    again.promise.first_token_due = now_ + ttft;
    arrive(again);
  });
}

bool World::running(const AttemptRef& ref) const {
  const auto found = live_.find(ref.request.value());
  return found != live_.end() && found->second == ref;
}

// Exactly one end each, and nothing is held by anybody (S3, S4, S7, S8).
void World::check_empty() {
  const auto fail = [this](const std::string& what) { out_ << "LEAK: " << what << "\n"; };
  for (const auto& [id, request] : requests_) {
    if (ended_[id] != 1)
      fail("request " + std::to_string(id) + " ended " + std::to_string(ended_[id]) + " times");
  }
  if (pool_.requests().size() != 0) fail("requests in the table");
  if (pool_.waiting_room().waiting() != 0) fail("requests in the waiting room");
  if (pool_.timers().size() != 0) fail("timers");
  for (const EngineView& engine : pool_.engines()) {
    if (!engine.idle() && !engines_.at(engine.spec().id.value()).hung) fail("promises in a ledger");
  }
  for (const auto& [tenant, outcomes] : by_tenant_) {
    const TenantHolds holds = *pool_.holds(units::TenantId(tenant));
    if (holds.alive != 0 || holds.on_engines != 0 || holds.reserved_tokens != 0)
      fail("tenant holds");
  }
  const Counters& counters = pool_.counters();
  course_.measure("dropped", counters.dropped_events);
  course_.measure("shadow", counters.shadow_failures);
  out_ << "dropped=" << counters.dropped_events << " shadow=" << counters.shadow_failures
       << " retries=" << counters.retries << "\n";
}

void World::summarise() {
  for (const auto& [tenant, of] : by_tenant_) {
    out_ << "tenant " << tenant << ": arrived=" << of.arrived << " on_time=" << of.on_time
         << " tokens=" << of.tokens.value() << " longest_wait=" << in_ms(of.longest_wait)
         << " longest_refusal=" << in_ms(of.longest_refusal) << "\n";
    for (const auto& [what, count] : of.ends) out_ << "  " << what << " " << count << "\n";
  }
}

}  // namespace

script::Course play(const script::Script& script) {
  return World(script).run();
}

}  // namespace tidegate::pool::scenario
