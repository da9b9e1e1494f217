// The report as a page for a person: tables and plots in one HTML file that fetches nothing and can
// be opened from disk, mailed or kept. web/report holds the page; the build bundles it with its
// plot library and compiles it in. Pure.
#pragma once

#include <string>

#include "report/report.h"

namespace tidegate::report {

// The whole file. Names from the report reach the page as data only: whatever they contain, they
// are shown and never run. Equal reports give equal bytes.
std::string html(const Report& report);

}  // namespace tidegate::report
