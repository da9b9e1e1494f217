#include "config/defaults.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

namespace tidegate::config {
namespace {

// The file's stem without the usual quantisation tail ("-q8_0"), so that callers can ask for the
// model by a name that stays when the file is quantised anew.
std::string model_name(const std::string& file) {
  std::string stem = std::filesystem::path(file).stem().string();
  const std::size_t dash = stem.find_last_of("-.");
  if (dash == std::string::npos || dash == 0 || dash + 2 >= stem.size()) return stem;
  const char first = stem[dash + 1];
  const char second = stem[dash + 2];
  const bool quantised = (first == 'q' || first == 'Q') && second >= '1' && second <= '9';
  return quantised ? stem.substr(0, dash) : stem;
}

}  // namespace

std::vector<domain::ServiceClass> default_classes() {
  domain::ServiceClass interactive;
  interactive.id = units::ClassId(0);
  interactive.name = "interactive";
  interactive.ttft = units::seconds(2);
  interactive.tpot = units::milliseconds(200);
  domain::ServiceClass batch;
  batch.id = units::ClassId(1);
  batch.name = "batch";
  batch.best_effort = true;
  return {interactive, batch};
}

TenantConfig default_tenant(const std::vector<domain::ServiceClass>& classes) {
  TenantConfig tenant;
  tenant.values.id = units::TenantId(0);
  tenant.values.name = "default";
  tenant.values.default_class = classes.front().id;
  for (const auto& service_class : classes) tenant.classes.push_back(service_class.id);
  tenant.tightest = {units::Nanos(0), units::Nanos(0), units::Nanos(0)};
  return tenant;
}

ServerConfig config_for_models(const std::vector<std::string>& gguf_files) {
  ServerConfig config;
  config.builtin_classes = true;
  config.classes = default_classes();
  config.tenants = {default_tenant(config.classes)};
  for (const std::string& file : gguf_files) {
    const std::string name = model_name(file);
    const auto same = std::find_if(config.models.begin(), config.models.end(),
                                   [&name](const ModelConfig& m) { return m.name == name; });
    EngineConfig engine;
    engine.id = units::EngineId(config.engines.size());
    engine.gguf = file;
    engine.name = name;
    if (same == config.models.end()) {
      engine.model = units::ModelId(config.models.size());
      config.models.push_back({engine.model, name});
    } else {
      engine.model = same->id;
      engine.name += "-" + std::to_string(config.engines.size());
    }
    config.engines.push_back(std::move(engine));
  }
  return config;
}

std::string text_for_models(const ServerConfig& config) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "engines" << YAML::Value << YAML::BeginSeq;
  for (const EngineConfig& engine : config.engines) {
    out << YAML::BeginMap;
    out << YAML::Key << "llama" << YAML::Value << engine.gguf;
    out << YAML::Key << "name" << YAML::Value << engine.name;
    out << YAML::Key << "model" << YAML::Value << config.models[engine.model.value()].name;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace tidegate::config
