// Which model runs on which GPUs at the start of a scenario: every model gets its least number of
// engines, then each further engine goes to the model whose demand is covered worst, on the GPU
// type that is better for it than for the others. Greedy and deterministic; `tidegate plan` solves
// the same as an optimisation problem. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "config/load.h"
#include "config/scenario_config.h"
#include "scenario/demand.h"

namespace tidegate::scenario {

struct PlacedEngine {
  std::size_t model = 0;  // indices into the scenario's lists
  std::size_t gpu = 0;
};

// In the order of the pool's entries, then of the models. Fails with the places in the scenario
// file of all models that fit no GPU of the pool or that cannot get their least number of engines,
// and what would be right for each. O(engines * models * GPU types).
tl::expected<std::vector<PlacedEngine>, config::LoadErrors> place(
    const config::ScenarioConfig& config, const std::vector<Demand>& demands);

}  // namespace tidegate::scenario
