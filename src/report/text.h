// The report for a terminal: a table with a row for each policy and class, and below it what was
// shed and how far the policy is from the bounds. Pure.
#pragma once

#include <string>

#include "report/report.h"

namespace tidegate::report {

// Lines of text, each with a line end, about 100 columns. Seeds are pooled (summary.h). Columns are
// aligned by display width; what a terminal would obey in a name is shown as '?'.
std::string text(const Report& report);

}  // namespace tidegate::report
