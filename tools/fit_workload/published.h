// Profiles from printed figures, where the trace itself is not at hand, and the mixture.
#pragma once

#include <vector>

#include "workload/profiles.h"

namespace tidegate::tools {

// BurstGPT's conversations with GPT-4, from printed quantiles of its lengths.
workload::Profile burstgpt(const std::vector<workload::RankLoad>& rank_load);

}  // namespace tidegate::tools
