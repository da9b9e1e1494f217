// From a scenario's configuration to what the simulator runs: a world and the requests that come to
// it. Reads the traces, measures the demand, places the models, and lays the faults over the
// engines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/scenario_load.h"
#include "scenario/arrivals.h"
#include "scenario/demand.h"
#include "scenario/placement.h"
#include "sim/world.h"

namespace tidegate::scenario {

// Immutable once made; runs of different seeds may share it between threads.
struct Prepared {
  std::shared_ptr<const config::ScenarioConfig> config;
  std::vector<Demand> demands;        // by model
  std::vector<PlacedEngine> engines;  // by engine id
  sim::World world;                   // with seed 1
  Sources sources;

  // The world of one seed. The same seed gives the same world and the same requests.
  sim::World world_of(std::uint64_t seed) const;
  std::vector<std::string> model_names() const;
};

// Fails with every problem and its place: a bad row of a trace, a model that fits no GPU, a fault
// of an engine that does not exist.
tl::expected<Prepared, config::LoadErrors> prepare(config::ScenarioConfig given);

}  // namespace tidegate::scenario
