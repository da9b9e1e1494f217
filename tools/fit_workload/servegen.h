// Profiles from ServeGen's published tables of clients (rates by ten minutes, lengths by six
// hours).
#pragma once

#include <string>

#include "units/result.h"
#include "workload/profiles.h"
#include "workload/statistics.h"

namespace tidegate::tools {

struct ServeGen {
  workload::Profile profile;
  // Lengths and client shares of the tables themselves, for comparison; the rest is 0.
  workload::TraceStatistics published;
};

// Reads servegen_rates_<model>.csv.gz and servegen_lengths_<model>.csv.gz in the folder. The
// largest clients become a kind each; the others are put together by the length of their prompts.
units::Result<ServeGen> fit_servegen(const std::string& folder, const std::string& model);

}  // namespace tidegate::tools
