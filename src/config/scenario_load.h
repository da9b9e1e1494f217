// A scenario file to validated values, or everything that is wrong with it. Reads the file given
// and looks whether the traces it names exist; otherwise pure.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"
#include "config/scenario_config.h"

namespace tidegate::config {

// Folders in which traces are looked for after the scenario's own, each also under `traces/`.
using DataFolders = std::vector<std::string>;

tl::expected<ScenarioConfig, LoadErrors> load_scenario(const std::string& path,
                                                       const DataFolders& folders);

// The same on text that was read already; `path` names it in messages and anchors relative paths.
tl::expected<ScenarioConfig, LoadErrors> parse_scenario(const std::string& text,
                                                        const std::string& path,
                                                        const DataFolders& folders);

// Does the text look like a scenario rather than a server's configuration? It has a pool or a
// workload at the top and no engines.
bool is_scenario(const std::string& text);

// The whole file. The error says what would be right.
units::Result<std::string> read_file(const std::string& path);

}  // namespace tidegate::config
