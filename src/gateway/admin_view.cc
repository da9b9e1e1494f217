#include "gateway/admin_view.h"

#include <boost/json.hpp>

#include "gateway/edge.h"

namespace tidegate::gateway {
namespace {

namespace json = boost::json;

double milliseconds_of(units::Nanos span) {
  return static_cast<double>(span.value()) / 1e6;
}

std::string_view state_name(pool::EngineState state) {
  switch (state) {
    case pool::EngineState::kReady:
      return "ready";
    case pool::EngineState::kDraining:
      return "draining";
    case pool::EngineState::kLost:
      return "lost";
  }
  return "unknown";
}

json::object engine_object(const DecisionLoop& loop, const pool::EngineView& view) {
  const domain::EngineSpec& spec = view.spec();
  const pool::Load& load = view.load(domain::Tier::kBestEffort);
  json::object object;
  object["id"] = spec.id.value();
  object["name"] = loop.engine_name(spec.id);
  object["model"] = loop.config().models[spec.model.value()].name;
  object["epoch"] = spec.epoch.value();
  object["state"] = state_name(view.state());
  object["calibrated"] = view.law().calibrated();
  object["law_correction_ppm"] = view.law().correction().value();
  object["promised_requests"] = view.pledges();
  object["prefilling"] = view.prefilling().size();
  object["promised_kv_tokens"] = load.held.value();
  object["kv_blocks"] = spec.limits.kv_blocks.value();
  object["block_tokens"] = spec.kv.block_tokens.value();
  object["max_sequences"] = spec.limits.max_sequences;
  object["max_context"] = spec.limits.max_context.value();
  if (const auto* report = loop.report(spec.id)) {
    object["kv_used_blocks"] = report->kv_used.value();
    object["kv_cached_blocks"] = report->kv_cached.value();
    object["running"] = report->running;
    object["waiting"] = report->waiting;
    object["prefill_backlog_tokens"] = report->prefill_backlog.value();
    object["preemptions_total"] = report->preemptions_total;
  }
  return object;
}

json::array engine_array(const DecisionLoop& loop) {
  json::array engines;
  for (const pool::EngineView& view : loop.scheduler().engines()) {
    engines.push_back(engine_object(loop, view));
  }
  return engines;
}

json::array tenant_array(const DecisionLoop& loop) {
  json::array tenants;
  for (const config::TenantConfig& tenant : loop.config().tenants) {
    json::object object;
    object["name"] = tenant.values.name;
    object["weight"] = tenant.values.weight;
    object["class"] = loop.config().classes[tenant.values.default_class.value()].name;
    const auto holds = loop.scheduler().holds(tenant.values.id);
    if (tenant.removed && (!holds || holds->alive == 0)) continue;
    if (tenant.removed) object["removed"] = true;
    if (holds) {
      object["alive"] = holds->alive;
      object["on_engines"] = holds->on_engines;
      object["reserved_tokens"] = holds->reserved_tokens;
      if (holds->requests_left) object["requests_left"] = *holds->requests_left;
      if (holds->tokens_left) object["tokens_left"] = *holds->tokens_left;
    }
    tenants.push_back(std::move(object));
  }
  return tenants;
}

json::object entry_object(const DecisionLoop& loop, const DecisionHistory& history,
                          const DecisionEntry& entry) {
  json::object object;
  object["at_ms"] = milliseconds_of(entry.at - history.request.arrival);
  if (std::holds_alternative<domain::Admit>(entry.decision)) {
    object["decision"] = "admit";
    object["tier"] = domain::name(std::get<domain::Admit>(entry.decision).tier);
  } else if (const auto* hold = std::get_if<domain::Hold>(&entry.decision)) {
    object["decision"] = "hold";
    object["reason"] = domain::name(hold->reason);
    object["position"] = hold->position;
    // Not every policy predicts it.
    if (hold->eta != units::Instant::never())
      object["eta_ms"] = milliseconds_of(hold->eta - entry.at);
  } else if (const auto* end = std::get_if<domain::End>(&entry.decision)) {
    object["decision"] = "end";
    object["outcome"] = domain::name(end->outcome);
    object["reason"] = domain::name(end->reason);
    object["what_is_full"] = domain::name(end->full);
    object["retry_after_ms"] = milliseconds_of(end->retry_after);
  } else if (const auto* assign = std::get_if<domain::Assign>(&entry.decision)) {
    object["decision"] = "assign";
    object["engine"] = loop.engine_name(assign->ref.engine);
    object["attempt"] = assign->ref.attempt.value();
    object["tier"] = domain::name(assign->tier);
  } else if (std::holds_alternative<domain::Abort>(entry.decision)) {
    object["decision"] = "abort";
  } else if (std::holds_alternative<domain::Downgrade>(entry.decision)) {
    object["decision"] = "downgrade";
  }
  return object;
}

}  // namespace

std::string state_json(DecisionLoop& loop) {
  const pool::Counters& counters = loop.scheduler().counters();
  json::object object;
  object["ready"] = loop.ready();
  object["draining"] = loop.draining();
  object["config_version"] = loop.settings().version;
  object["policy"] = loop.config().server.policy.name;
  object["alive"] = loop.alive();
  object["waiting"] = loop.waiting();
  object["arrived_total"] = counters.arrived;
  object["ended_total"] = counters.ended;
  object["dropped_events_total"] = counters.dropped_events;
  object["protocol_errors_total"] = counters.protocol_errors;
  object["shadow_failures_total"] = counters.shadow_failures;
  object["retries_total"] = counters.retries;
  object["engines"] = engine_array(loop);
  object["tenants"] = tenant_array(loop);
  return json::serialize(object);
}

std::string engines_json(DecisionLoop& loop) {
  return json::serialize(json::object{{"engines", engine_array(loop)}});
}

std::string tenants_json(DecisionLoop& loop) {
  return json::serialize(json::object{{"tenants", tenant_array(loop)}});
}

std::string reload_json(const ReloadResult& result) {
  json::object object;
  object["reloaded"] = result.problems.empty();
  object["config_version"] = result.version;
  json::array problems;
  for (const units::Error& each : result.problems) {
    problems.push_back(json::object{{"where", each.where}, {"message", each.message}});
  }
  object["problems"] = std::move(problems);
  return json::serialize(object);
}

std::string decisions_json(DecisionLoop& loop, const DecisionHistory& history) {
  const domain::Request& request = history.request;
  json::object object;
  object["request_id"] = request_id_text(request.id.value());
  object["tenant"] = loop.config().tenants[request.tenant.value()].values.name;
  object["class"] = loop.config().classes[request.service_class.value()].name;
  object["model"] = loop.config().models[request.model.value()].name;
  object["prompt_tokens"] = request.footprint.prompt.value();
  object["max_output_tokens"] = request.footprint.max_output.value();
  json::array forecast;
  for (const units::Tokens length : request.footprint.output.lengths) {
    forecast.push_back(length.value());
  }
  object["forecast_output_tokens"] = std::move(forecast);
  if (request.promise.first_token_due != units::Instant::never()) {
    object["ttft_ms"] = milliseconds_of(request.promise.first_token_due - request.arrival);
  }
  if (request.promise.token_pace != units::Nanos(0)) {
    object["tpot_ms"] = milliseconds_of(request.promise.token_pace);
  }
  if (request.promise.total_due != units::Instant::never()) {
    object["deadline_ms"] = milliseconds_of(request.promise.total_due - request.arrival);
  }
  json::array decisions;
  for (const DecisionEntry& entry : history.entries) {
    decisions.push_back(entry_object(loop, history, entry));
  }
  object["decisions"] = std::move(decisions);
  return json::serialize(object);
}

}  // namespace tidegate::gateway
