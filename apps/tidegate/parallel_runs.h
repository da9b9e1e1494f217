// The runs of a comparison, side by side on the cores. Each run is single-threaded and
// deterministic; only the measured times depend on the machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/report.h"
#include "scenario/prepare.h"

namespace tidegate::app {

struct Job {
  std::string policy;
  std::uint64_t seed = 1;
  double load = 1;  // times the scenario's own rate
};

// The report of each job, in their order, with the bounds of its seed and load. `progress` is
// called from this thread a few times a second with the share of simulated time that is done, when
// it is set.
std::vector<report::Run> run_all(const scenario::Prepared& prepared, const std::vector<Job>& jobs,
                                 const std::function<void(double)>& progress);

}  // namespace tidegate::app
