// How close generated requests are to the trace that they were fitted to.
#pragma once

#include <string>

#include "workload/profiles.h"
#include "workload/statistics.h"

namespace tidegate::tools {

// Statistics of runs of the profile, the mean over a few seeds.
workload::TraceStatistics describe_generated(const workload::Profile& profile, double length_s);

// Two lines of a table: the trace's figures, then the generated ones. Heading first.
std::string comparison_heading();
std::string comparison(const std::string& name, const workload::TraceStatistics& trace,
                       const workload::TraceStatistics& generated);

}  // namespace tidegate::tools
