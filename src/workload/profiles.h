// The fitted workloads that ship with the project: catalogue/workload_profiles.csv (how the load
// divides over clients) and catalogue/workload_kinds.csv (how one sort of client behaves), compiled
// in. tools/fit_workload writes both. Immutable values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/result.h"
#include "workload/arrivals.h"
#include "workload/generator.h"
#include "workload/lengths.h"

namespace tidegate::workload {

struct ClientKind {
  std::string name;  // "<profile>/<kind>"
  std::string model;
  double load = 1;  // share of the requests, relative to the other kinds of its profile
  ArrivalLaw arrivals;
  double length_correlation = 0;  // of the Gaussian copula between input and output
  SessionSpec sessions;
  LengthLaw input;
  LengthLaw follow_input;
  LengthLaw output;
};

// How much of the load the `rank` largest clients have together.
struct RankLoad {
  double rank = 0;
  double load = 0;
};

struct Profile {
  std::string name;
  double requests_per_s = 1;
  std::uint32_t clients = 1;
  std::vector<RankLoad> rank_load;  // ascending and concave, from {0, 0} to {clients, 1}
  std::vector<ClientKind> kinds;
  std::string source;
};

// Reads the two tables. Fails with file:line on a bad row.
units::Result<std::vector<Profile>> read_profiles(std::string_view profile_text,
                                                  std::string_view kind_text);

// The ones compiled in.
const std::vector<Profile>& shipped_profiles();

// The compiled-in tables (cmake/Embed.cmake).
extern const std::string_view kWorkloadProfiles;
extern const std::string_view kWorkloadKinds;

}  // namespace tidegate::workload
