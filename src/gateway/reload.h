// How a running gateway is given another configuration: who reads it, and what came of it. Plain
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "config/load.h"
#include "config/server_config.h"

namespace tidegate::gateway {

struct LoadedConfig {
  config::ServerConfig config;
  std::string text;  // as somebody wrote it, for the journal and for the lines of problems
};

// Reads and validates the configuration as it is now. Called from any thread; may read files.
using LoadConfig = std::function<tl::expected<LoadedConfig, config::LoadErrors>()>;

struct ReloadResult {
  std::int64_t version = 0;     // in force now; 1 from the start, one more with each reload
  config::LoadErrors problems;  // none: it was taken over; else the one before stays
};

using ReloadDone = std::function<void(const ReloadResult&)>;

}  // namespace tidegate::gateway
