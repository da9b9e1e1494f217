#include "config/load.h"

#include <filesystem>

#include "config/scenario_load.h"
#include "config/schema.h"

namespace tidegate::config {
namespace {

LoadErrors single(std::string where, std::string message) {
  return {units::Error{std::move(where), std::move(message)}};
}

tl::expected<YAML::Node, LoadErrors> parse_yaml(const std::string& text, const std::string& path) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& failure) {
    return tl::unexpected(single(Problems(path).place(failure.mark),
                                 "not YAML: " + failure.msg + "; correct the syntax of this line"));
  }
}

// Keys of the one schema that belong to the simulator; a server has no use for them.
void refuse_scenario_keys(Section& root) {
  for (const char* key : {"gpus", "pool", "workload", "faults", "run"}) {
    if (root.take(key)) {
      root.problem(key, std::string("'") + key + "' belongs to a scenario of the simulator",
                   "a server is described by server, engines, models, classes and tenants");
    }
  }
}

}  // namespace

tl::expected<ServerConfig, LoadErrors> parse_server_config(const std::string& text,
                                                           const std::string& path) {
  auto document = parse_yaml(text, path);
  if (!document) return tl::unexpected(document.error());
  Problems problems(path);
  ServerConfig config;
  config.file = path;
  try {
    Section root(*document, "the configuration", problems);
    if (!root.readable()) return tl::unexpected(problems.sorted());
    const std::string folder = std::filesystem::path(path).parent_path().string();
    config.server = read_server(root, folder);
    read_models(root, config);
    read_engines(root, folder, config);
    read_classes(root, config);
    read_tenants(root, TenantUse::kServer, config);
    refuse_scenario_keys(root);
    root.finish();
  } catch (const YAML::Exception& failure) {
    problems.add(failure.mark, failure.msg, "correct this line");
  }
  if (!problems.empty()) return tl::unexpected(problems.sorted());
  return config;
}

tl::expected<ServerConfig, LoadErrors> load_server_config(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(single(text.error().where, text.error().message));
  return parse_server_config(*text, path);
}

}  // namespace tidegate::config
