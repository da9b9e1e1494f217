// The runs of a comparison, side by side on the cores. Each run is single-threaded and
// deterministic; only the measured times depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/report.h"
#include "scenario/prepare.h"

namespace tidegate::app {

// What the schedulers of a run know that no real one does (docs/bounds.md).
struct Oracles {
  bool lengths = false;  // every output length, at arrival
  bool times = false;    // every step takes exactly what its law says

  bool any() const { return lengths || times; }
};

struct Job {
  std::string policy;
  std::uint64_t seed = 1;
  double load = 1;  // times the scenario's own rate
  Oracles oracles{};
};

struct RunOptions {
  // Also search, for each job, how much faster the engines would have to be for its policy to
  // attain the lowest bound: about a dozen further runs each, where it does not attain it already.
  bool speed_factor = false;
  // Called from this thread a few times a second with the share of the runs that is done, then from
  // 0 again for the search; may be null.
  std::function<void(double)> progress{};
};

// The report of each job, in their order, with the bounds of its seed and load.
std::vector<report::Run> run_all(const scenario::Prepared& prepared, const std::vector<Job>& jobs,
                                 const RunOptions& options);

}  // namespace tidegate::app
