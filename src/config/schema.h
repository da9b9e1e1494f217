// The sections of a server's configuration, one reader each. Every reader reports what it finds
// wrong and returns what could be read, so that one run shows everything. scenario_schema.h has
// those of the simulator's scenarios beside these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/section.h"
#include "config/server_config.h"

namespace tidegate::config {

ServerSettings read_server(Section& root, const std::string& folder);
// The models first (from `models`, else one for each name the engines use), then the engines.
void read_models(Section& root, ServerConfig& config);
void read_engines(Section& root, const std::string& folder, ServerConfig& config);
// The built-in classes when there is no `classes`.
void read_classes(Section& root, ServerConfig& config);
enum class TenantUse : std::uint8_t {
  kServer,    // a key or its absence must name exactly one tenant
  kScenario,  // keys do not matter, and `count: N` makes N tenants NAME-1 to NAME-N
};
// The default tenant when there is no `tenants`. REQUIRES: models and classes were read.
void read_tenants(Section& root, TenantUse use, ServerConfig& config);

std::vector<KeyDigest> read_digests(Section& section, const std::string& key);
// A name for people and metrics: letters, digits, ".", "_", "-", ":" and "/", at most 64.
std::optional<std::string> read_name(Section& section, std::vector<std::string>& taken);

// The index of `name` among entries that have a name, or nullopt.
template <class Entries>
std::optional<std::size_t> index_of(const Entries& entries, std::string_view name) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].name == name) return i;
  }
  return std::nullopt;
}

template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace tidegate::config
