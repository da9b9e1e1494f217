#include <algorithm>

#include "catalogue/catalogue.h"
#include "config/scenario_schema.h"
#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

constexpr std::int64_t kMostGpus = 100'000;
constexpr double kMostPrice = 1e6;

// Reports a name that the catalogue does not have.
void check_gpu(Section& section, const std::string& key, const std::string& name) {
  const auto& catalogue = catalogue::Catalogue::bundled();
  if (catalogue.gpu(name) != nullptr) return;
  section.problem(key, "the catalogue has no GPU '" + name + "'",
                  suggestion(name, catalogue.gpu_names()));
}

void read_gpus(Section& root, ScenarioConfig& config) {
  const auto node = root.take("gpus");
  if (!node) return;
  if (!node->IsMap()) {
    root.problem("gpus", "'gpus' is not a map", "write {NAME: {catalogue: H100-SXM-80GB}}");
    return;
  }
  for (const auto& entry : *node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    Section section(entry.second, "gpu '" + name + "'", root.problems());
    section.require("catalogue", "add catalogue: NAME, for example H100-SXM-80GB");
    GpuConfig gpu{name, section.text("catalogue").value_or(""),
                  section.number("price_per_hour", 0, kMostPrice).value_or(0)};
    section.finish();
    if (!gpu.catalogue.empty()) check_gpu(section, "catalogue", gpu.catalogue);
    config.gpus.push_back(std::move(gpu));
  }
}

// The GPU of this name, from `gpus` or straight from the catalogue.
std::optional<std::size_t> gpu_named(Section& section, const std::string& name,
                                     ScenarioConfig& config) {
  if (const auto index = index_of(config.gpus, name)) return index;
  const auto& catalogue = catalogue::Catalogue::bundled();
  if (catalogue.gpu(name) == nullptr) {
    std::vector<std::string> known = names_of(config.gpus);
    if (known.empty()) known = catalogue.gpu_names();
    section.problem("gpu", section.title() + " names the unknown GPU '" + name + "'",
                    suggestion(name, known));
    return std::nullopt;
  }
  config.gpus.push_back({name, name, 0});
  return config.gpus.size() - 1;
}

}  // namespace

void read_pool(Section& root, ScenarioConfig& config) {
  read_gpus(root, config);
  root.require("pool", "add pool: [{gpu: H100-SXM-80GB, count: 8}]");
  for (const YAML::Node& node : root.list("pool")) {
    Section section(node, "pool entry", root.problems());
    section.require("gpu", "add gpu: NAME");
    section.require("count", "add count: N");
    const auto name = section.text("gpu");
    const auto count = section.integer("count", 1, kMostGpus);
    section.finish();
    if (!name || !count) continue;
    const auto gpu = gpu_named(section, *name, config);
    if (gpu) config.pool.push_back({*gpu, *count, section.where()});
  }
  if (root.has("pool") && config.pool.empty()) {
    root.problem("pool", "'pool' has no GPU", "add {gpu: H100-SXM-80GB, count: 8}");
  }
}

void read_scenario_models(Section& root, ScenarioConfig& config) {
  const auto& catalogue = catalogue::Catalogue::bundled();
  root.require("models", "add models: [{name: llama-3.1-8b, catalogue: Llama-3.1-8B}]");
  std::vector<std::string> taken;
  for (const YAML::Node& node : root.list("models")) {
    Section section(node, "model", root.problems());
    ScenarioModel model;
    const auto name = read_name(section, taken);
    model.name = name.value_or("");
    model.catalogue = section.text("catalogue").value_or(model.name);
    if (name && catalogue.model(model.catalogue) == nullptr) {
      section.problem(section.has("catalogue") ? "catalogue" : "name",
                      "the catalogue has no model '" + model.catalogue + "'",
                      suggestion(model.catalogue, catalogue.model_names()));
    }
    const auto dtype = section.text("dtype").value_or("bfloat16");
    model.fp8 = dtype == "fp8";
    if (dtype != "bfloat16" && dtype != "fp8") {
      section.problem("dtype", "dtype is '" + dtype + "'", suggestion(dtype, {"bfloat16", "fp8"}));
    }
    model.tensor_parallel = section.integer("tensor_parallel", 1, 64).value_or(1);
    model.min_replicas = section.integer("min_replicas", 0, kMostGpus).value_or(1);
    model.max_sequences = section.integer("max_sequences", 1, 4'096).value_or(256);
    const auto step = section.integer("max_step_tokens", 16, 1 << 20);
    if (step) model.max_step_tokens = units::Tokens(*step);
    section.finish();
    model.where = section.where();
    model.id = units::ModelId(config.models.size());
    if (name) config.models.push_back(std::move(model));
  }
  if (root.has("models") && config.models.empty()) {
    root.problem("models", "there is no model",
                 "add {name: llama-3.1-8b, catalogue: Llama-3.1-8B}");
  }
}

}  // namespace tidegate::config
