#include "config/reload.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <utility>

#include "config/schema.h"

namespace tidegate::config {
namespace {

using Path = std::vector<std::string>;

// Where the key stands, or the nearest one around it that is there.
YAML::Mark mark_of(const std::string& text, const Path& path) {
  YAML::Mark mark;
  try {
    YAML::Node node = YAML::Load(text);
    for (const std::string& key : path) {
      if (!node.IsMap() || !node[key]) break;
      node.reset(node[key]);
      mark = node.Mark();
    }
  } catch (const YAML::Exception&) {
    // `fresh` did not come from this text: the first line is as good as any.
  }
  return mark;
}

std::string joined(const Path& path) {
  std::string name;
  for (const std::string& key : path) name += (name.empty() ? "" : ".") + key;
  return name;
}

class Comparison {
 public:
  Comparison(const std::string& text, const std::string& file) : text_(text), problems_(file) {}

  void same(bool equal, const Path& path) {
    if (equal) return;
    problems_.add(mark_of(text_, path), "'" + joined(path) + "' differs from what runs",
                  "set it back to reload, or restart to change it");
  }
  void fits(std::size_t count, std::size_t most, const Path& path) {
    if (count <= most) return;
    problems_.add(mark_of(text_, path),
                  std::to_string(count) + " different '" + joined(path) + "' since the start",
                  "restart to forget those of the past");
  }
  const Problems& problems() const { return problems_; }

 private:
  const std::string& text_;
  Problems problems_;
};

void compare(const ServerConfig& running, const ServerConfig& fresh, Comparison& comparison) {
  const ServerSettings& a = running.server;
  const ServerSettings& b = fresh.server;
  comparison.same(a.listen == b.listen, {"server", "listen"});
  comparison.same(a.admin.listen == b.admin.listen, {"server", "admin", "listen"});
  comparison.same(a.tls.has_value() == b.tls.has_value(), {"server", "tls"});
  comparison.same(a.admin.tls.has_value() == b.admin.tls.has_value(), {"server", "admin", "tls"});
  comparison.same(a.limits == b.limits, {"server", "limits"});
  comparison.same(a.net_threads == b.net_threads, {"server", "net_threads"});
  comparison.same(a.journal == b.journal, {"server", "journal"});
  comparison.same(a.policy.name == b.policy.name, {"server", "policy"});
  comparison.same(a.log_file == b.log_file, {"server", "log", "file"});
  comparison.same(running.models == fresh.models, {"models"});
  comparison.same(running.engines == fresh.engines, {"engines"});
}

// New ids of the fresh classes, by their old ones.
std::vector<units::ClassId> merge_classes(const ServerConfig& running, ServerConfig& fresh) {
  std::vector<domain::ServiceClass> merged = running.classes;
  std::vector<units::ClassId> ids;
  for (domain::ServiceClass& each : fresh.classes) {
    const auto index = index_of(merged, each.name);
    each.id = index ? merged[*index].id : units::ClassId(merged.size());
    ids.push_back(each.id);
    if (index) {
      merged[*index] = std::move(each);
    } else {
      merged.push_back(std::move(each));
    }
  }
  fresh.classes = std::move(merged);
  return ids;
}

void merge_tenants(const ServerConfig& running, const std::vector<units::ClassId>& class_ids,
                   ServerConfig& fresh) {
  std::vector<TenantConfig> merged = running.tenants;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    merged[i].removed = true;
    merged[i].keys.clear();
    places[merged[i].values.name] = i;
  }
  for (TenantConfig& tenant : fresh.tenants) {
    tenant.values.default_class = class_ids[tenant.values.default_class.value()];
    for (units::ClassId& id : tenant.classes) id = class_ids[id.value()];
    const auto old = places.find(tenant.values.name);
    if (old != places.end()) {
      tenant.values.id = units::TenantId(old->second);
      merged[old->second] = std::move(tenant);
    } else {
      tenant.values.id = units::TenantId(merged.size());
      merged.push_back(std::move(tenant));
    }
  }
  fresh.tenants = std::move(merged);
}

}  // namespace

tl::expected<ServerConfig, LoadErrors> taken_over(const ServerConfig& running, ServerConfig fresh,
                                                  const std::string& text) {
  Comparison comparison(text, fresh.file);
  compare(running, fresh, comparison);
  if (!comparison.problems().empty()) return tl::unexpected(comparison.problems().sorted());
  const auto class_ids = merge_classes(running, fresh);
  merge_tenants(running, class_ids, fresh);
  comparison.fits(fresh.classes.size(), kClassesMax, {"classes"});
  comparison.fits(fresh.tenants.size(), kTenantsMax, {"tenants"});
  if (!comparison.problems().empty()) return tl::unexpected(comparison.problems().sorted());
  return fresh;
}

}  // namespace tidegate::config
