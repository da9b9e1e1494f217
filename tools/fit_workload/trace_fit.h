// Profiles from recorded traces that say no more than time, lengths and perhaps content.
#pragma once

#include <string>
#include <vector>

#include "workload/profiles.h"
#include "workload/trace.h"

namespace tidegate::tools {

struct TraceFit {
  std::string name;
  std::string source;
  bool coarse_clock = false;                  // its arrivals are rounded to seconds
  std::vector<workload::RankLoad> rank_load;  // of clients, where the trace has none of its own
};

// One kind of client: lengths and their correlation from the rows, turns and think times from
// prompts that continue an earlier one (hash_ids), variability by calibrate.h.
workload::Profile fit_trace(const workload::Trace& trace, const TraceFit& how);

// Cumulated load over rank at a few ranks. REQUIRES: descending, sum above 0.
std::vector<workload::RankLoad> rank_load_of(const std::vector<double>& loads);

}  // namespace tidegate::tools
