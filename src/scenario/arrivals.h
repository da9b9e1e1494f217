// The requests of a scenario: its sources side by side, merged in order of arrival. Traces are read
// once and shared by every run; each run gets its own stream.
#pragma once

#include <memory>
#include <vector>

#include "config/scenario_config.h"
#include "scenario/row_binding.h"
#include "sim/world.h"
#include "units/result.h"
#include "workload/trace.h"

namespace tidegate::scenario {

class Sources {
 public:
  // Reads the traces and checks them against the scenario. `config` must outlive what it gives.
  static units::Result<Sources> open(const config::ScenarioConfig& config);

  // The requests of one run, numbered from 1 in order of arrival (ties by the order of the
  // workload's entries). The stream may outlive the Sources, not the configuration.
  // `load` multiplies the rate of every entry: generators make more requests in the same shape,
  // traces are played faster. REQUIRES: 0.001 <= load <= 1000.
  sim::Arrivals arrivals(std::uint64_t seed, double load = 1) const;

  // Fails where a trace that lasts for the whole run would end before it at this load.
  units::Result<void> last_for_the_run(double load) const;

 private:
  explicit Sources(const config::ScenarioConfig& config) : config_(&config) {}

  const config::ScenarioConfig* config_;
  // By workload entry; null where it is generated.
  std::vector<std::shared_ptr<const workload::Trace>> traces_;
};

}  // namespace tidegate::scenario
