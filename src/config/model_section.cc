#include <algorithm>

#include "config/defaults.h"
#include "config/schema.h"

namespace tidegate::config {
namespace {

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == ':' || c == '/';
}

bool good_name(const std::string& name) {
  return name.size() <= 64 && std::all_of(name.begin(), name.end(), name_character);
}

// The model that an engine without `models` in the file stands for.
std::optional<std::string> engine_model(const YAML::Node& engine) {
  if (!engine.IsMap()) return std::nullopt;
  for (const char* key : {"model", "name"}) {
    if (engine[key] && engine[key].IsScalar()) return engine[key].Scalar();
  }
  return std::nullopt;
}

void models_from_engines(Section& root, ServerConfig& config) {
  for (const YAML::Node& engine : root.list("engines")) {
    const auto name = engine_model(engine);
    if (!name || index_of(config.models, *name)) continue;
    config.models.push_back({units::ModelId(config.models.size()), *name});
  }
}

domain::ServiceClass read_class(Section& section) {
  domain::ServiceClass read;
  read.ttft = section.duration("ttft");
  read.tpot = section.duration("tpot");
  read.deadline = section.duration("deadline");
  read.best_effort = section.boolean("best_effort").value_or(false);
  if (const auto percentile = section.integer("percentile", 50, 99)) {
    read.percentile = units::Ppm(*percentile * 10'000);
  }
  const bool promises = section.has("ttft") || section.has("tpot") || section.has("deadline");
  if (read.best_effort && promises) {
    section.problem("best_effort", section.title() + " is best effort and promises times",
                    "keep either best_effort or ttft, tpot and deadline");
  }
  if (!read.best_effort && !section.has("ttft") && !section.has("deadline")) {
    section.problem("name", section.title() + " promises nothing",
                    "add ttft (and tpot), or deadline, or best_effort: true");
  }
  if (read.deadline && (read.ttft || read.tpot)) {
    section.problem("deadline", section.title() + " has a deadline beside ttft or tpot",
                    "promise either a deadline for the whole answer, or ttft and tpot");
  }
  return read;
}

}  // namespace

std::optional<std::string> read_name(Section& section, std::vector<std::string>& taken) {
  section.require("name", "add name: TEXT");
  auto name = section.text("name");
  if (!name) return std::nullopt;
  if (!good_name(*name)) {
    section.problem("name", "'" + *name + "' cannot be a name",
                    "use at most 64 letters, digits and . _ - : /");
  }
  if (std::find(taken.begin(), taken.end(), *name) != taken.end()) {
    section.problem("name", section.title() + " '" + *name + "' stands twice",
                    "rename one of them");
  }
  taken.push_back(*name);
  return name;
}

void read_models(Section& root, ServerConfig& config) {
  if (!root.has("models")) {
    root.take("models");
    models_from_engines(root, config);
    return;
  }
  std::vector<std::string> taken;
  for (const YAML::Node& node : root.list("models")) {
    Section section(node, "model", root.problems());
    const auto name = read_name(section, taken);
    // Facts for the simulator and the planner, which share this schema.
    section.text("catalogue");
    section.integer("tensor_parallel", 1, 1'024);
    section.integer("min_replicas", 0, 100'000);
    section.finish();
    if (name) config.models.push_back({units::ModelId(config.models.size()), *name});
  }
}

void read_classes(Section& root, ServerConfig& config) {
  if (!root.take("classes")) {
    config.classes = default_classes();
    config.builtin_classes = true;
    return;
  }
  std::vector<std::string> taken;
  for (const YAML::Node& node : root.list("classes")) {
    Section section(node, "class", root.problems());
    const auto name = read_name(section, taken);
    domain::ServiceClass read = read_class(section);
    section.finish();
    if (!name) continue;
    read.id = units::ClassId(config.classes.size());
    read.name = *name;
    config.classes.push_back(std::move(read));
  }
  if (config.classes.empty()) {
    root.problem("classes", "'classes' is empty", "add {name: chat, ttft: 500ms, tpot: 50ms}");
  }
}

}  // namespace tidegate::config
