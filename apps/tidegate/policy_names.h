// The policies that a comparison was asked for, found in the registry. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "config/scenario_load.h"

namespace tidegate::app {

// The names in their order, each once; `tidegate` where none is wanted. Errors: every name that the
// registry does not know, at its place, with what was meant or is known.
tl::expected<std::vector<std::string>, config::LoadErrors> known_policies(
    std::vector<config::PolicyName> wanted);

}  // namespace tidegate::app
