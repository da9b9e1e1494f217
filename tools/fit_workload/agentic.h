// The profile of coding agents, from published sessions (kv-cache-tester).
#pragma once

#include <string>

#include "units/result.h"
#include "workload/profiles.h"
#include "workload/trace.h"

namespace tidegate::tools {

struct Agentic {
  workload::Profile profile;
  workload::Trace requests;  // of the main agents, in file order: only their lengths mean anything
};

// Reads agentic_claude_code_requests.csv.gz. A session ends where its prompt is cut back to less
// than half (the conversation is compacted). When sessions begin is not published: Poisson.
units::Result<Agentic> fit_agentic(const std::string& path,
                                   const std::vector<workload::RankLoad>& rank_load);

}  // namespace tidegate::tools
