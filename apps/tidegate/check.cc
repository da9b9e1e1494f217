// tidegate check FILE: everything that is wrong with a configuration or a scenario, or what it
// describes.
#include <boost/json.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "config/load.h"
#include "config/scenario_load.h"
#include "data_folders.h"
#include "policy_names.h"
#include "scenario/prepare.h"
#include "subcommand.h"

namespace tidegate::app {
namespace {

struct CheckOptions {
  std::string file;
  bool json = false;
};

void print_problems(const config::LoadErrors& problems, bool json) {
  if (!json) {
    for (const units::Error& each : problems) {
      std::cout << each.where << ": " << each.message << "\n";
    }
    return;
  }
  boost::json::array list;
  for (const units::Error& each : problems) {
    list.push_back(boost::json::object{{"where", each.where}, {"message", each.message}});
  }
  std::cout << boost::json::object{{"valid", false}, {"problems", std::move(list)}} << "\n";
}

void print_summary(const config::ServerConfig& config, bool json) {
  if (json) {
    std::cout << boost::json::object{{"valid", true},
                                     {"listen", config.server.listen.text()},
                                     {"engines", config.engines.size()},
                                     {"models", config.models.size()},
                                     {"classes", config.classes.size()},
                                     {"tenants", config.tenants.size()}}
              << "\n";
    return;
  }
  std::cout << config.file << ": in order; listens on " << config.server.listen.text() << ", "
            << config.engines.size() << " engine(s), " << config.models.size() << " model(s), "
            << config.classes.size() << " class(es), " << config.tenants.size() << " tenant(s)\n";
}

void print_scenario(const scenario::Prepared& prepared, bool json) {
  const config::ScenarioConfig& config = *prepared.config;
  std::int64_t gpus = 0;
  for (const config::PoolEntry& entry : config.pool) gpus += entry.count;
  if (json) {
    std::cout << boost::json::object{{"valid", true},
                                     {"gpus", gpus},
                                     {"engines", prepared.engines.size()},
                                     {"models", config.models.size()},
                                     {"classes", config.classes.size()},
                                     {"tenants", config.tenants.size()}}
              << "\n";
    return;
  }
  std::cout << config.file << ": in order; a scenario with " << gpus << " GPU(s), "
            << prepared.engines.size() << " engine(s), " << config.models.size() << " model(s), "
            << config.classes.size() << " class(es), " << config.tenants.size() << " tenant(s)\n";
}

int check_scenario(const CheckOptions& options, const std::string& text) {
  auto config = config::parse_scenario(text, options.file, data_folders());
  auto prepared =
      config ? scenario::prepare(std::move(*config))
             : tl::expected<scenario::Prepared, config::LoadErrors>(tl::unexpected(config.error()));
  if (!prepared) {
    print_problems(prepared.error(), options.json);
    return kWrongInput;
  }
  const auto policies = known_policies(prepared->config->run.policies);
  if (!policies) {
    print_problems(policies.error(), options.json);
    return kWrongInput;
  }
  print_scenario(*prepared, options.json);
  return kDone;
}

int check(const CheckOptions& options) {
  const auto text = config::read_file(options.file);
  if (text && config::is_scenario(*text)) return check_scenario(options, *text);
  const auto config = config::load_server_config(options.file);
  if (!config) {
    print_problems(config.error(), options.json);
    return kWrongInput;
  }
  const auto policy = known_policies({config->server.policy});
  if (!policy) {
    print_problems(policy.error(), options.json);
    return kWrongInput;
  }
  print_summary(*config, options.json);
  return kDone;
}

}  // namespace

Subcommand add_check(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("check", "Validate a configuration or a scenario");
  const auto options = std::make_shared<CheckOptions>();
  app->add_option("FILE", options->file, "The YAML file")->required();
  app->add_flag("--json", options->json, "Print JSON");
  app->footer(
      "Prints every problem as FILE:LINE: what is wrong; what would be right.\n\n"
      "Examples:\n"
      "  tidegate check examples/minimal.yaml\n"
      "  tidegate check --json examples/minimal.yaml\n"
      "  tidegate check scenarios/underload.yaml");
  return {app, [options] { return check(*options); }};
}

}  // namespace tidegate::app
