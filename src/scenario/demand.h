// How much each model is asked for in a scenario, and how many engines that would keep busy.
// Counted over the stream of requests itself, so it holds for traces and generators alike. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/world.h"
#include "units/quantity.h"

namespace tidegate::scenario {

struct Demand {
  std::int64_t requests = 0;
  double prompt_tokens = 0;
  double output_tokens = 0;
  double context_tokens = 0;  // summed over output tokens: what each reads from KV memory
};

// By model, of the requests that arrive before `horizon`. O(requests).
std::vector<Demand> measure(const sim::Arrivals& arrivals, std::size_t models,
                            units::Nanos horizon);

// Engines like this one that the demand keeps busy for the whole horizon: prompts in chunks of up
// to 2,048 tokens, decodes in batches of up to 64 that its memory holds. An estimate for dividing
// GPUs between models, not a promise.
double engines_needed(const Demand& demand, const sim::EngineModel& engine, units::Nanos horizon);

}  // namespace tidegate::scenario
