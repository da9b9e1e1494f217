// A configuration file to validated values, or everything that is wrong with it. Reads the file
// given and looks whether the model files it names exist; otherwise pure.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/server_config.h"

#include "units/result.h"

namespace tidegate::config {

// Never empty, in the order of the file's lines.
using LoadErrors = std::vector<units::Error>;

tl::expected<ServerConfig, LoadErrors> load_server_config(const std::string& path);

// The same on text that was read already; `path` names it in messages and anchors relative paths.
tl::expected<ServerConfig, LoadErrors> parse_server_config(const std::string& text,
                                                           const std::string& path);

}  // namespace tidegate::config
