// "Did you mean" for the names of a configuration (units/suggestion.h).
#pragma once

#include "units/suggestion.h"

namespace tidegate::config {

using units::nearest;
using units::suggestion;

}  // namespace tidegate::config
