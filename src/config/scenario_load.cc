#include "config/scenario_load.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/scenario_schema.h"
#include "config/schema.h"

namespace tidegate::config {
namespace {

LoadErrors single(std::string where, std::string message) {
  return {units::Error{std::move(where), std::move(message)}};
}

// Keys of the one schema that belong to a server; a scenario has no use for them.
void refuse_server_keys(Section& root) {
  for (const char* key : {"engines", "server"}) {
    if (root.take(key)) {
      root.problem(key, std::string("'") + key + "' belongs to a server",
                   "a scenario is described by gpus, pool, models, classes, tenants, workload, "
                   "faults and run");
    }
  }
}

// Classes and tenants are read by the readers of the server's configuration.
void read_shared(Section& root, ScenarioConfig& config) {
  ServerConfig shared;
  for (const ScenarioModel& model : config.models) shared.models.push_back({model.id, model.name});
  read_classes(root, shared);
  read_tenants(root, TenantUse::kScenario, shared);
  config.classes = std::move(shared.classes);
  config.tenants = std::move(shared.tenants);
}

}  // namespace

units::Result<std::string> read_file(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return units::error(path, "is a folder; name a YAML file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return units::error(path, "cannot be read; name a YAML file that exists");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_scenario(const std::string& text) {
  try {
    const YAML::Node node = YAML::Load(text);
    return node.IsMap() && (node["pool"] || node["workload"]) && !node["engines"];
  } catch (const YAML::Exception&) {
    return false;  // whoever reads it says what is wrong
  }
}

tl::expected<ScenarioConfig, LoadErrors> parse_scenario(const std::string& text,
                                                        const std::string& path,
                                                        const DataFolders& folders) {
  Problems problems(path);
  ScenarioConfig config;
  config.file = path;
  try {
    Section root(YAML::Load(text), "the scenario", problems);
    if (!root.readable()) return tl::unexpected(problems.sorted());
    read_pool(root, config);
    read_scenario_models(root, config);
    read_shared(root, config);
    read_workload(root, folders, config);
    read_faults(root, config);
    config.run = read_run(root);
    refuse_server_keys(root);
    root.finish();
  } catch (const YAML::ParserException& failure) {
    problems.add(failure.mark, "not YAML: " + failure.msg, "correct the syntax of this line");
  } catch (const YAML::Exception& failure) {
    problems.add(failure.mark, failure.msg, "correct this line");
  }
  if (!problems.empty()) return tl::unexpected(problems.sorted());
  return config;
}

tl::expected<ScenarioConfig, LoadErrors> load_scenario(const std::string& path,
                                                       const DataFolders& folders) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(single(text.error().where, text.error().message));
  return parse_scenario(*text, path, folders);
}

}  // namespace tidegate::config
