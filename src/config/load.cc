#include "config/load.h"

#include <filesystem>
#include <fstream>
#include <sstream>

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
    config.server = read_server(root);
    read_models(root, config);
    read_engines(root, std::filesystem::path(path).parent_path().string(), config);
    read_classes(root, config);
    read_tenants(root, config);
    refuse_scenario_keys(root);
    root.finish();
  } catch (const YAML::Exception& failure) {
    problems.add(failure.mark, failure.msg, "correct this line");
  }
  if (!problems.empty()) return tl::unexpected(problems.sorted());
  return config;
}

tl::expected<ServerConfig, LoadErrors> load_server_config(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return tl::unexpected(single(path, "is a folder; name a YAML file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(single(path, "cannot be read; name a YAML file that exists"));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_server_config(text.str(), path);
}

}  // namespace tidegate::config
