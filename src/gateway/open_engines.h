// From the configuration to engines that are loaded but not started. Reads the model files.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "config/server_config.h"
#include "gateway/engine_set.h"
#include "units/result.h"

namespace tidegate::gateway {

// What an engine says that a person should see: what it complains about (errors, and warnings too
// at log level debug), and whether a GPU computes that was asked for. From any thread.
using EngineWarning = std::function<void(std::string_view line)>;

// Error: names the engine and says why it cannot be opened. In a build without llama.cpp every one.
units::Result<std::vector<NamedEngine>> open_engines(const config::ServerConfig& config,
                                                     const EngineWarning& warning);

}  // namespace tidegate::gateway
