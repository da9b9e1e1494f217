#include "config/scenario_schema.h"
#include "config/suggestion.h"
#include "workload/exact_math.h"

namespace tidegate::config {
namespace {

using workload::GeneratorSpec;
using workload::LengthLaw;
using workload::Pattern;

// The standard normal deviate that nine tenths lie below.
constexpr double kNinetieth = 1.2815515655446004;
constexpr double kMostTokens = 1e6;
constexpr double kMostRate = 1e6;

// `{p50: 300, p90: 1200}`: log-normal counts with these two quantiles.
std::optional<LengthLaw> read_length(Section& parent, const char* key) {
  const auto node = parent.take(key);
  if (!node) return std::nullopt;
  Section section(*node, key, parent.problems());
  section.require("p50", "add the median number of tokens");
  section.require("p90", "add the number of tokens that nine in ten stay below");
  const auto p50 = section.number("p50", 1, kMostTokens);
  const auto p90 = section.number("p90", 1, kMostTokens);
  section.finish();
  if (!p50 || !p90) return std::nullopt;
  if (*p90 <= *p50) {
    section.problem("p90", "p90 is not above p50", "write the larger number as p90");
    return std::nullopt;
  }
  LengthLaw law;
  law.kind = workload::LengthKind::kLognormal;
  law.median = *p50;
  law.spread = workload::exact_log(*p90 / *p50) / kNinetieth;
  return law;
}

Pattern read_pattern(Section& section) {
  const std::string name = section.text("shape").value_or("steady");
  const std::vector<std::string> names = {"steady", "square", "diurnal", "spike", "flood"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Pattern>(i);
  }
  section.problem("shape", "shape is '" + name + "'", suggestion(name, names));
  return Pattern::kSteady;
}

void read_shape(Section& section, GeneratorSpec& spec) {
  spec.shape.pattern = read_pattern(section);
  spec.shape.peak_to_trough = section.number("peak_to_trough", 1, 1'000).value_or(1);
  spec.shape.period = section.duration("period").value_or(spec.shape.period);
  spec.shape.begin = section.duration("begin").value_or(spec.shape.begin);
  spec.shape.duration = section.duration("duration").value_or(spec.shape.duration);
}

}  // namespace

GeneratorSpec read_generator(Section& section, const ScenarioConfig& config) {
  GeneratorSpec spec;
  const std::string kind = section.text("generator").value_or("servegen");
  if (kind != "servegen") {
    section.problem("generator", "generator is '" + kind + "'", suggestion(kind, {"servegen"}));
  }
  spec.profile = section.text("profile").value_or(spec.profile);
  const auto clients = section.integer("clients", 1, 100'000).value_or(0);
  spec.clients = static_cast<std::uint32_t>(clients);
  spec.requests_per_s = section.number("requests_per_s", 1e-6, kMostRate).value_or(0);
  read_shape(section, spec);
  spec.input = read_length(section, "input");
  spec.output = read_length(section, "output");
  spec.gap_cv = section.number("gap_cv", 0.01, 100);
  spec.rate_drift = section.number("rate_drift", 0, 10);
  for (const ScenarioModel& model : config.models) spec.models.push_back({model.name, 1});
  return spec;
}

}  // namespace tidegate::config
