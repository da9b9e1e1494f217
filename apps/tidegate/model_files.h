// Where the bundled model is: beside the binary that was installed, or in the source tree that it
// was built from.
#pragma once

#include <string>

#include "units/result.h"

namespace tidegate::app {

// Path of tidegate-tiny. Looked for in models/ of the folders above the executable, in
// share/tidegate/models beside its bin/, then in the source tree. Error: in none of them.
units::Result<std::string> bundled_model();

}  // namespace tidegate::app
