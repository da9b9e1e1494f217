// A configuration that was read again, as far as a running server can take it over: classes,
// tenants, keys, certificates, the time to drain and the log level. The rest was built at the start
// and needs another one. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "config/load.h"
#include "config/server_config.h"

namespace tidegate::config {

// Classes and tenants, those of the past included; ids are never used again.
inline constexpr std::size_t kClassesMax = 1'000;
inline constexpr std::size_t kTenantsMax = 100'000;

// `fresh` with the ids of `running`: a class or tenant keeps the id that its name had, new names
// get new ids, and what is not there any more stays at its place, marked as removed, since requests
// inside may still refer to it. Errors: every key that differs and cannot change without a restart,
// by its line in `text`, from which `fresh` was read.
tl::expected<ServerConfig, LoadErrors> taken_over(const ServerConfig& running, ServerConfig fresh,
                                                  const std::string& text);

}  // namespace tidegate::config
