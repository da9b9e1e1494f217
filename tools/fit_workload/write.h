// Writes profiles in the form in which they are shipped (workload/profiles.h reads them back).
#pragma once

#include <string>
#include <vector>

#include "workload/profiles.h"

namespace tidegate::tools {

struct Mixed {
  std::string parts;  // "profile:share profile:share"
  double requests_per_s = 0;
  std::vector<workload::RankLoad> rank_load;
};

std::string profiles_csv(const std::vector<workload::Profile>& profiles, const Mixed& mixed);
std::string kinds_csv(const std::vector<workload::Profile>& profiles);

}  // namespace tidegate::tools
