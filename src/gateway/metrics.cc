#include "gateway/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>

namespace tidegate::gateway {
namespace {

// Round steps of about 2 from 1 ms to 2 min, and from 100 ns to 10 ms for decisions.
const std::vector<double> kLatencySeconds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                             0.5,   1,     2,     5,    10,   20,   60,  120};
const std::vector<double> kDecisionSeconds = {1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5,
                                              2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 1e-2};

double seconds_of(units::Nanos span) {
  return static_cast<double>(span.value()) * 1e-9;
}
double number(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

Metrics::Metrics(std::vector<std::string> engine_names)
    : engine_names_(std::move(engine_names)),
      preemptions_(engine_names_.size()),
      requests_(counters("requests_total", "Calls by how they ended.")),
      rejections_(counters("rejections_total", "Refusals by reason.")),
      tokens_(counters("tokens_total", "Tokens read and written.")),
      preempted_(counters("preemptions_total", "Running requests put back to be computed again.")),
      depth_(gauges("queue_depth", "Requests that wait outside the engines, by class.")),
      held_(gauges("held_requests", "Requests that wait outside the engines.")),
      blocks_(gauges("engine_kv_blocks", "KV blocks of an engine by state.")),
      running_(gauges("engine_running", "Requests that are on an engine.")),
      health_(gauges("engine_health", "1 when the engine takes work.")),
      law_error_(gauges("law_error_ratio", "Learned correction of the step-time law; 1 is none.")),
      attainment_(gauges("slo_attainment_ratio", "Share of completed requests in time.")),
      journal_(gauges("journal_failed", "1 when the journal could not be written.")),
      config_version_(gauges("config_version", "Counts the configurations taken over.")),
      reload_failed_(gauges("config_reload_failed", "1 when the last reload was not taken over.")),
      first_token_(histogram("time_to_first_token_seconds", "From arrival.", kLatencySeconds)),
      gap_(histogram("inter_token_latency_seconds", "Between tokens.", kLatencySeconds)),
      queue_(histogram("queue_seconds", "From arrival to an engine.", kLatencySeconds)),
      total_(histogram("e2e_seconds", "From arrival to the end.", kLatencySeconds)),
      decision_(histogram("decision_seconds", "One step of the pool tier.", kDecisionSeconds)) {
  auto& steps = prometheus::BuildHistogram()
                    .Name("tidegate_engine_step_seconds")
                    .Help("Steps of an engine, as measured there.")
                    .Register(registry_);
  for (std::size_t i = 0; i < engine_names_.size(); ++i) {
    engine_health(units::EngineId(i), false);
    steps_.push_back(&steps.Add({{"engine", engine_names_[i]}}, kLatencySeconds));
  }
  journal_failed(false);
  configuration(1, false);
  held(0);
}

Metrics::CounterFamily& Metrics::counters(const std::string& name, const std::string& help) {
  return prometheus::BuildCounter().Name("tidegate_" + name).Help(help).Register(registry_);
}

Metrics::GaugeFamily& Metrics::gauges(const std::string& name, const std::string& help) {
  return prometheus::BuildGauge().Name("tidegate_" + name).Help(help).Register(registry_);
}

prometheus::Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds) {
  return prometheus::BuildHistogram()
      .Name("tidegate_" + name)
      .Help(help)
      .Register(registry_)
      .Add({}, bounds);
}

void Metrics::call_ended(const CallSummary& summary) {
  requests_
      .Add({{"model", summary.model},
            {"class", summary.service_class},
            {"tenant", summary.tenant},
            {"outcome", std::string(domain::name(summary.outcome))}})
      .Increment();
  total_.Observe(seconds_of(summary.total));
  const bool refused = summary.outcome == domain::Outcome::kRejectedInvalid ||
                       summary.outcome == domain::Outcome::kRejectedCapacity ||
                       summary.outcome == domain::Outcome::kRejectedQuota;
  if (refused) rejections_.Add({{"reason", summary.reason}}).Increment();
}

void Metrics::tokens(const domain::Usage& usage) {
  tokens_.Add({{"direction", "input"}}).Increment(number(usage.prompt.value()));
  tokens_.Add({{"direction", "cached"}}).Increment(number(usage.cached_prompt.value()));
  tokens_.Add({{"direction", "output"}}).Increment(number(usage.output.value()));
}

void Metrics::first_token(units::Nanos after_arrival) {
  first_token_.Observe(seconds_of(after_arrival));
}

void Metrics::token_gap(units::Nanos gap, units::Tokens count) {
  const double each = seconds_of(gap) / number(std::max<std::int64_t>(count.value(), 1));
  for (std::int64_t i = 0; i < count.value(); ++i) gap_.Observe(each);
}

void Metrics::queued(units::Nanos waited) {
  queue_.Observe(seconds_of(waited));
}
void Metrics::decision(units::Nanos took) {
  decision_.Observe(seconds_of(took));
}

void Metrics::attainment(const std::string& service_class, const std::string& tenant,
                         std::int64_t kept, std::int64_t judged) {
  attainment_.Add({{"class", service_class}, {"tenant", tenant}})
      .Set(judged == 0 ? 1.0 : number(kept) / number(judged));
}

void Metrics::queue_depth(const std::string& service_class, std::int64_t waiting) {
  depth_.Add({{"class", service_class}}).Set(number(waiting));
}

void Metrics::held(std::int64_t waiting) {
  held_.Add({}).Set(number(waiting));
}

void Metrics::step(units::EngineId engine, units::Nanos took) {
  steps_[engine.value()]->Observe(seconds_of(took));
}

void Metrics::engine_report(const domain::StateReport& report, units::Blocks total) {
  const std::size_t index = report.engine.value();
  const std::string& name = engine_names_[index];
  const units::Blocks used = report.kv_used + report.kv_cached;
  blocks_.Add({{"engine", name}, {"state", "used"}}).Set(number(report.kv_used.value()));
  blocks_.Add({{"engine", name}, {"state", "cached"}}).Set(number(report.kv_cached.value()));
  blocks_.Add({{"engine", name}, {"state", "free"}}).Set(number((total - used).value()));
  law_error_.Add({{"engine", name}})
      .Set(number(report.law_correction.value()) / number(units::kMillion));
  const std::int64_t more = report.preemptions_total - preemptions_[index];
  preempted_.Add({{"engine", name}}).Increment(number(std::max<std::int64_t>(more, 0)));
  preemptions_[index] = report.preemptions_total;
}

void Metrics::engine_ledger(units::EngineId engine, units::Blocks reserved, std::int64_t running) {
  const std::string& name = engine_names_[engine.value()];
  blocks_.Add({{"engine", name}, {"state", "reserved"}}).Set(number(reserved.value()));
  running_.Add({{"engine", name}}).Set(number(running));
}

void Metrics::engine_health(units::EngineId engine, bool up) {
  health_.Add({{"engine", engine_names_[engine.value()]}}).Set(up ? 1 : 0);
}

void Metrics::journal_failed(bool failed) {
  journal_.Add({}).Set(failed ? 1 : 0);
}

void Metrics::configuration(std::int64_t version, bool reload_failed) {
  config_version_.Add({}).Set(number(version));
  reload_failed_.Add({}).Set(reload_failed ? 1 : 0);
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace tidegate::gateway
