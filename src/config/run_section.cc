#include <cmath>

#include "config/scenario_schema.h"
#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

constexpr double kMostSeconds = 30.0 * 24 * 3'600;

// Plain seconds, with a fraction: `seconds: 3600` and `warmup: 300` say their unit by their names.
std::optional<units::Nanos> seconds_of(Section& section, const char* key, double low) {
  const auto number = section.number(key, low, kMostSeconds);
  if (!number) return std::nullopt;
  return units::Nanos(std::llround(*number * 1e9));
}

void read_kind(Section& section, FaultConfig& fault) {
  const std::string kind = section.text("kind").value_or("crash");
  if (kind == "slow") {
    fault.kind = FaultKind::kSlow;
    if (const auto factor = section.number("factor", 1, 1'000)) {
      fault.factor = units::Ppm(std::llround(*factor * static_cast<double>(units::kMillion)));
    }
  } else if (kind != "crash") {
    section.problem("kind", "kind is '" + kind + "'", suggestion(kind, {"crash", "slow"}));
  }
}

units::Ppm read_bias(Section& section, const char* key) {
  const double bias = section.number(key, 0.05, 20).value_or(1);
  return units::Ppm(std::llround(bias * static_cast<double>(units::kMillion)));
}

// One engine by its number, or engines on a type of GPU.
void read_target(Section& section, const ScenarioConfig& config, FaultConfig& fault) {
  fault.engine = section.integer("engine", 0, 100'000);
  if (const auto name = section.text("gpu")) {
    fault.gpu = index_of(config.gpus, *name);
    if (!fault.gpu) {
      section.problem("gpu", "the fault names the unknown GPU '" + *name + "'",
                      suggestion(*name, names_of(config.gpus)));
    }
  }
  if (section.has("engine") == section.has("gpu")) {
    section.problem("gpu", "a fault needs either an engine or a GPU",
                    "write engine: N, or gpu: NAME with count: N");
  }
}

}  // namespace

void read_faults(Section& root, ScenarioConfig& config) {
  for (const YAML::Node& node : root.list("faults")) {
    Section section(node, "fault", root.problems());
    FaultConfig fault;
    fault.where = section.where();
    read_target(section, config, fault);
    read_kind(section, fault);
    section.require("at", "add at: DURATION after the start");
    fault.count = section.integer("count", 1, 100'000).value_or(1);
    fault.at = section.duration("at").value_or(fault.at);
    fault.lasts = section.duration("for");
    section.finish();
    config.faults.push_back(std::move(fault));
  }
}

RunSettings read_run(Section& root) {
  RunSettings run;
  const auto node = root.take("run");
  if (!node) return run;
  Section section(*node, "run", root.problems());
  run.length = seconds_of(section, "seconds", 1e-3).value_or(run.length);
  run.warmup = seconds_of(section, "warmup", 0).value_or(run.warmup);
  run.seeds = section.integer("seeds", 1, 10'000).value_or(run.seeds);
  for (const YAML::Node& entry : section.list("policies")) {
    if (entry.IsScalar()) {
      run.policies.push_back({entry.Scalar(), root.problems().place(entry.Mark())});
    } else {
      root.problems().add(entry.Mark(), "a policy is not a name", "write policies: [tidegate]");
    }
  }
  if (const auto noise = section.number("step_noise", 0, 0.9)) {
    run.step_noise = units::Ppm(std::llround(*noise * static_cast<double>(units::kMillion)));
  }
  run.dispatch_lag = section.duration("dispatch_lag").value_or(run.dispatch_lag);
  run.telemetry_period = section.duration("telemetry_period").value_or(run.telemetry_period);
  run.telemetry_lag = section.duration("telemetry_lag").value_or(run.telemetry_lag);
  run.engine_start = section.duration("engine_start").value_or(run.engine_start);
  run.load_gb_per_s = section.integer("load_gb_per_s", 1, 10'000).value_or(run.load_gb_per_s);
  const std::string lengths = section.text("lengths").value_or("learned");
  run.known_lengths = lengths == "known";
  if (lengths != "learned" && lengths != "known") {
    section.problem("lengths", "lengths is '" + lengths + "'",
                    suggestion(lengths, {"learned", "known"}));
  }
  run.length_bias = read_bias(section, "length_bias");
  run.step_time_bias = read_bias(section, "step_time_bias");
  if (run.telemetry_period < units::milliseconds(1)) {
    section.problem("telemetry_period", "telemetry_period is too short", "write at least 1ms");
  }
  if (run.warmup >= run.length) {
    section.problem("warmup", "the warm-up takes the whole run", "make it shorter than 'seconds'");
  }
  section.finish();
  return run;
}

}  // namespace tidegate::config
