// The figures of the gateway for Prometheus (docs/operator.md lists them). Label values come from
// the configuration and from closed lists, so their number is bounded. Thread-safe; the functions
// called once for each token are a few atomic operations.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/seam.h"
#include "gateway/call.h"

namespace tidegate::gateway {

class Metrics {
 public:
  explicit Metrics(std::vector<std::string> engine_names);

  void call_ended(const CallSummary& summary);
  void tokens(const domain::Usage& usage);
  void first_token(units::Nanos after_arrival);
  // `count` tokens came `gap` after the ones before them.
  void token_gap(units::Nanos gap, units::Tokens count);
  void queued(units::Nanos waited);
  void decision(units::Nanos took);
  // Promises kept and judged so far.
  void attainment(const std::string& service_class, const std::string& tenant, std::int64_t kept,
                  std::int64_t judged);
  void queue_depth(const std::string& service_class, std::int64_t waiting);
  void held(std::int64_t waiting);
  void engine_report(const domain::StateReport& report, units::Blocks total);
  // A step that the engine computed, as measured there.
  void step(units::EngineId engine, units::Nanos took);
  // What the pool promised on the engine: blocks, and requests that are there.
  void engine_ledger(units::EngineId engine, units::Blocks reserved, std::int64_t running);
  void engine_health(units::EngineId engine, bool up);
  void journal_failed(bool failed);
  // The configuration in force, and whether the last attempt to replace it failed.
  void configuration(std::int64_t version, bool reload_failed);

  // The text format of Prometheus, version 0.0.4.
  std::string text() const;

 private:
  using CounterFamily = prometheus::Family<prometheus::Counter>;
  using GaugeFamily = prometheus::Family<prometheus::Gauge>;

  CounterFamily& counters(const std::string& name, const std::string& help);
  GaugeFamily& gauges(const std::string& name, const std::string& help);
  prometheus::Histogram& histogram(const std::string& name, const std::string& help,
                                   const std::vector<double>& bounds);

  std::vector<std::string> engine_names_;
  std::vector<std::int64_t> preemptions_;  // last total of each engine
  prometheus::Registry registry_;
  CounterFamily& requests_;
  CounterFamily& rejections_;
  CounterFamily& tokens_;
  CounterFamily& preempted_;
  GaugeFamily& depth_;
  GaugeFamily& held_;
  GaugeFamily& blocks_;
  GaugeFamily& running_;
  GaugeFamily& health_;
  GaugeFamily& law_error_;
  GaugeFamily& attainment_;
  GaugeFamily& journal_;
  GaugeFamily& config_version_;
  GaugeFamily& reload_failed_;
  prometheus::Histogram& first_token_;
  prometheus::Histogram& gap_;
  prometheus::Histogram& queue_;
  prometheus::Histogram& total_;
  prometheus::Histogram& decision_;
  std::vector<prometheus::Histogram*> steps_;  // of each engine
};

}  // namespace tidegate::gateway
