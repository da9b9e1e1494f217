// What a server has that was told nothing: two classes and one tenant without keys. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "config/server_config.h"

namespace tidegate::config {

// `interactive` (first token within 2 s, then one each 200 ms, p99) and `batch` (best effort).
std::vector<domain::ServiceClass> default_classes();

// One tenant "default", without keys, with every class and model, and free to tighten its promises.
TenantConfig default_tenant(const std::vector<domain::ServiceClass>& classes);

// Serve these model files, each as a model and an engine named after the file's stem; a second
// engine for a name gets a number. One default tenant, loopback address.
ServerConfig config_for_models(const std::vector<std::string>& gguf_files);

// A file that says what config_for_models() gave: reading it gives the same engines, models,
// classes and tenants. For the journal, which keeps the configuration as text.
std::string text_for_models(const ServerConfig& config);

}  // namespace tidegate::config
