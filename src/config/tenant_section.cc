#include <algorithm>

#include "config/defaults.h"
#include "config/schema.h"
#include "config/suggestion.h"

namespace tidegate::config {
namespace {

constexpr std::int64_t kMany = 1LL << 40;
constexpr std::int64_t kMostCopies = 10'000;

std::optional<KeyDigest> parse_digest(const std::string& text) {
  const auto nibble = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  KeyDigest digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = nibble(text[2 * i]);
    const int low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

std::optional<units::ClassId> class_named(Section& section, const std::string& key,
                                          const std::string& name, const ServerConfig& config) {
  const auto index = index_of(config.classes, name);
  if (index) return config.classes[*index].id;
  section.problem(key, section.title() + " names the unknown class '" + name + "'",
                  suggestion(name, names_of(config.classes)));
  return std::nullopt;
}

void read_tenant_classes(Section& section, const ServerConfig& config, TenantConfig& tenant) {
  if (config.classes.empty()) return;
  tenant.values.default_class = config.classes.front().id;
  if (const auto name = section.text("class")) {
    const auto id = class_named(section, "class", *name, config);
    tenant.values.default_class = id.value_or(tenant.values.default_class);
  }
  for (const std::string& name : section.texts("classes")) {
    if (name == "*") {
      for (const auto& each : config.classes) tenant.classes.push_back(each.id);
    } else if (const auto id = class_named(section, "classes", name, config)) {
      tenant.classes.push_back(*id);
    }
  }
  tenant.classes.push_back(tenant.values.default_class);
  std::sort(tenant.classes.begin(), tenant.classes.end());
  tenant.classes.erase(std::unique(tenant.classes.begin(), tenant.classes.end()),
                       tenant.classes.end());
}

// "*" or no list at all means every model, which the domain writes as an empty list.
void read_tenant_models(Section& section, const ServerConfig& config, domain::Tenant& tenant) {
  const std::vector<std::string> names = section.texts("models");
  if (std::find(names.begin(), names.end(), "*") != names.end()) return;
  for (const std::string& name : names) {
    const auto index = index_of(config.models, name);
    if (index) {
      tenant.models.push_back(config.models[*index].id);
    } else {
      section.problem("models", section.title() + " names the unknown model '" + name + "'",
                      suggestion(name, names_of(config.models)));
    }
  }
}

void read_overload(Section& section, domain::Tenant& tenant) {
  const auto text = section.text("on_overload");
  if (!text || *text == "reject") return;
  if (*text == "queue") {
    tenant.on_overload = domain::OnOverload::kQueue;
  } else if (*text == "downgrade") {
    tenant.on_overload = domain::OnOverload::kDowngrade;
  } else {
    section.problem("on_overload", "on_overload is '" + *text + "'",
                    suggestion(*text, {"reject", "queue", "downgrade"}));
  }
}

void read_limits(Section& parent, domain::TenantLimits& limits) {
  const auto node = parent.take("limits");
  if (!node) return;
  Section section(*node, "limits", parent.problems());
  limits.requests_per_min = section.integer("requests_per_min", 1, kMany);
  if (const auto tokens = section.integer("tokens_per_min", 1, kMany)) {
    limits.tokens_per_min = units::Tokens(*tokens);
  }
  limits.in_flight = section.integer("in_flight", 1, kMany);
  limits.queued = section.integer("queued", 0, kMany);
  section.finish();
}

void read_guarantee(Section& parent, domain::Tenant& tenant) {
  const auto node = parent.take("guarantee");
  if (!node) return;
  Section section(*node, "guarantee", parent.problems());
  const auto tokens = [&section](const char* key) {
    section.require(key, "add the tokens that the guarantee covers");
    return units::Tokens(section.integer(key, 1, kMany).value_or(1));
  };
  domain::Guarantee guarantee;
  guarantee.tokens_per_s = tokens("tokens_per_s");
  guarantee.burst_tokens = tokens("burst_tokens");
  guarantee.prompt_tokens = tokens("prompt_tokens");
  guarantee.output_tokens = tokens("output_tokens");
  section.finish();
  tenant.guarantee = guarantee;
}

void read_tightest(Section& parent, HintFloor& floor) {
  const auto node = parent.take("tightest");
  if (!node) return;
  Section section(*node, "tightest", parent.problems());
  floor.ttft = section.duration("ttft");
  floor.tpot = section.duration("tpot");
  floor.deadline = section.duration("deadline");
  section.finish();
}

TenantConfig read_tenant(Section& section, const ServerConfig& config) {
  TenantConfig tenant;
  tenant.keys = read_digests(section, "keys_sha256");
  read_tenant_classes(section, config, tenant);
  read_tenant_models(section, config, tenant.values);
  read_overload(section, tenant.values);
  tenant.values.weight = section.integer("weight", 1, 1'000'000).value_or(1);
  read_limits(section, tenant.values.limits);
  read_guarantee(section, tenant.values);
  read_tightest(section, tenant.tightest);
  return tenant;
}

// One tenant of this name, or `count` of them with numbered names.
void add_copies(const TenantConfig& tenant, const std::string& name,
                std::optional<std::int64_t> count, std::vector<TenantConfig>& tenants) {
  for (std::int64_t i = 1; i <= count.value_or(1); ++i) {
    tenants.push_back(tenant);
    tenants.back().values.id = units::TenantId(tenants.size() - 1);
    tenants.back().values.name = count ? name + "-" + std::to_string(i) : name;
  }
}

// A key or its absence must name exactly one tenant.
void check_keys(Section& root, const std::vector<TenantConfig>& tenants) {
  std::vector<KeyDigest> all;
  std::int64_t open = 0;
  for (const TenantConfig& tenant : tenants) {
    open += tenant.keys.empty() ? 1 : 0;
    all.insert(all.end(), tenant.keys.begin(), tenant.keys.end());
  }
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
    root.problem("tenants", "one key stands twice", "give each key to one tenant, once");
  }
  if (open > 1) {
    root.problem("tenants", std::to_string(open) + " tenants have no keys",
                 "at most one tenant may have none: it takes the requests without a key");
  }
}

}  // namespace

std::vector<KeyDigest> read_digests(Section& section, const std::string& key) {
  std::vector<KeyDigest> digests;
  for (const std::string& text : section.texts(key)) {
    const auto digest = parse_digest(text);
    if (digest) {
      digests.push_back(*digest);
    } else {
      section.problem(key, "an entry of '" + key + "' is not a SHA-256",
                      "write 64 hexadecimal digits: printf %s KEY | sha256sum");
    }
  }
  return digests;
}

void read_tenants(Section& root, TenantUse use, ServerConfig& config) {
  if (!root.take("tenants")) {
    if (!config.classes.empty()) config.tenants = {default_tenant(config.classes)};
    return;
  }
  std::vector<std::string> taken;
  for (const YAML::Node& node : root.list("tenants")) {
    Section section(node, "tenant", root.problems());
    const auto name = read_name(section, taken);
    const TenantConfig tenant = read_tenant(section, config);
    std::optional<std::int64_t> count;
    if (use == TenantUse::kScenario) count = section.integer("count", 1, kMostCopies);
    section.finish();
    if (name) add_copies(tenant, *name, count, config.tenants);
  }
  if (config.tenants.empty()) {
    root.problem("tenants", "'tenants' is empty", "add {name: NAME, keys_sha256: [...]}");
  }
  if (use == TenantUse::kServer) check_keys(root, config.tenants);
}

}  // namespace tidegate::config
