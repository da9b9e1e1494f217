#include <algorithm>
#include <filesystem>

#include "config/scenario_schema.h"
#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

constexpr std::int64_t kMostTokens = 1LL << 24;
constexpr double kMostRate = 1e6;

// The first of the places a trace may be in that has it; empty when none does.
std::string find_trace(const std::string& name, const std::string& scenario,
                       const DataFolders& folders) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path path(name);
  std::vector<fs::path> places = {path.is_absolute() ? path
                                                     : fs::path(scenario).parent_path() / path};
  for (const std::string& folder : folders) {
    places.push_back(fs::path(folder) / path);
    places.push_back(fs::path(folder) / "traces" / path);
  }
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, failure)) return place.string();
  }
  return "";
}

std::optional<std::size_t> named(Section& section, const char* key,
                                 const std::vector<std::string>& known) {
  const auto name = section.text(key);
  if (!name) return std::nullopt;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == *name) return i;
  }
  section.problem(key, std::string("the workload names the unknown ") + key + " '" + *name + "'",
                  suggestion(*name, known));
  return std::nullopt;
}

// `tenant: acme`, or `tenant: team-*` for all whose names begin so.
std::vector<units::TenantId> read_tenant_names(Section& section, const ScenarioConfig& config) {
  std::vector<units::TenantId> found;
  const auto name = section.text("tenant");
  if (!name) return found;
  const bool group = name->back() == '*';
  const std::string stem = group ? name->substr(0, name->size() - 1) : *name;
  std::vector<std::string> known;
  for (const TenantConfig& tenant : config.tenants) {
    const std::string& each = tenant.values.name;
    if (group ? each.starts_with(stem) : each == stem) found.push_back(tenant.values.id);
    known.push_back(each);
  }
  if (found.empty()) {
    section.problem("tenant", "the workload names the unknown tenant '" + *name + "'",
                    suggestion(*name, known));
  }
  return found;
}

void read_names(Section& section, const ScenarioConfig& config, WorkloadItem& item) {
  item.tenants = read_tenant_names(section, config);
  if (const auto i = named(section, "model", names_of(config.models))) {
    item.model = units::ModelId(*i);
  }
  if (const auto i = named(section, "class", names_of(config.classes))) {
    item.service_class = units::ClassId(*i);
  }
  if (!item.service_class) return;
  for (const units::TenantId id : item.tenants) {
    const TenantConfig& tenant = config.tenants[id.value()];
    const auto& allowed = tenant.classes;
    if (std::find(allowed.begin(), allowed.end(), *item.service_class) != allowed.end()) continue;
    section.problem("class", "tenant '" + tenant.values.name + "' may not ask for this class",
                    "add it to the tenant's classes");
    return;
  }
}

void read_trace(Section& section, const std::string& scenario, const DataFolders& folders,
                WorkloadItem& item) {
  const auto name = section.text("trace");
  if (!name) return;
  item.trace = find_trace(*name, scenario, folders);
  if (item.trace.empty()) {
    section.problem("trace", "there is no trace '" + *name + "'",
                    "name a file relative to the scenario's folder, or set TIDEGATE_DATA to the "
                    "folder that has it");
  }
  item.start = section.duration("start").value_or(item.start);
  item.length = section.duration("length");
}

// `retries: {most: 2, wait: 500ms}`: what callers do who are refused.
void read_retries(Section& parent, WorkloadItem& item) {
  const auto node = parent.take("retries");
  if (!node) return;
  Section section(*node, "retries", parent.problems());
  section.require("most", "add how often a refused caller asks again");
  item.retries = section.integer("most", 0, 255).value_or(0);
  item.retry_wait = section.duration("wait");
  if (item.retry_wait && *item.retry_wait < units::milliseconds(1)) {
    section.problem("wait", "callers ask again with hardly a wait",
                    "write at least 1ms, or leave it out: then they wait as long as they are told");
  }
  section.finish();
}

}  // namespace

void read_workload(Section& root, const DataFolders& folders, ScenarioConfig& config) {
  root.require("workload", "add workload: [{trace: FILE, tenant: NAME, model: NAME}]");
  for (const YAML::Node& node : root.list("workload")) {
    Section section(node, "workload entry", root.problems());
    WorkloadItem item;
    item.where = section.where();
    if (section.has("generator")) {
      item.generator = read_generator(section, config);
    } else {
      section.require("trace", "add trace: FILE or generator: servegen");
      read_trace(section, config.file, folders, item);
    }
    read_names(section, config, item);
    item.rate_scale = section.number("rate_scale", 1e-6, kMostRate).value_or(1);
    if (const auto most = section.integer("max_output", 1, kMostTokens)) {
      item.max_output = units::Tokens(*most);
    }
    read_retries(section, item);
    section.finish();
    config.workload.push_back(std::move(item));
  }
  if (root.has("workload") && config.workload.empty()) {
    root.problem("workload", "'workload' is empty", "add {trace: FILE, tenant: NAME, model: NAME}");
  }
}

}  // namespace tidegate::config
