// A scenario from text, with traces beside it, for the tests of this folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "config/scenario_load.h"

namespace tidegate::scenario {

inline std::string test_folder(const std::string& name) {
  std::string folder =
      (std::filesystem::temp_directory_path() / ("tidegate_scenario_" + name)).string();
  std::filesystem::create_directories(folder);
  return folder;
}

inline config::ScenarioConfig scenario_in(const std::string& folder, const std::string& text) {
  auto config = config::parse_scenario(text, folder + "/s.yaml", {});
  if (!config)
    throw std::runtime_error(config.error().front().where + config.error().front().message);
  return *config;
}

}  // namespace tidegate::scenario
