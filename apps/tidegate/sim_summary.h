// What `tidegate sim` prints: a table of the policies, over all seeds together.
#pragma once

#include <string>

#include "report/report.h"

namespace tidegate::app {

// Lines of at most 110 columns. REQUIRES: the report has a run.
std::string summary(const report::Report& report);

}  // namespace tidegate::app
