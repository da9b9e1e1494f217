#include "policy_names.h"

#include <algorithm>

#include "baselines/registry.h"

namespace tidegate::app {

tl::expected<std::vector<std::string>, config::LoadErrors> known_policies(
    std::vector<config::PolicyName> wanted) {
  if (wanted.empty()) wanted.push_back({"tidegate", ""});
  std::vector<std::string> names;
  config::LoadErrors errors;
  for (const config::PolicyName& each : wanted) {
    const auto policy = baselines::policy(each.name);
    if (!policy) {
      errors.push_back({each.where, policy.error().message});
    } else if (std::find(names.begin(), names.end(), each.name) == names.end()) {
      names.push_back(each.name);
    }
  }
  if (!errors.empty()) return tl::unexpected(errors);
  return names;
}

}  // namespace tidegate::app
