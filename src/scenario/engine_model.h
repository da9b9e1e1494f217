// One engine of a scenario from the facts and fitted laws of the catalogue: its memory beside the
// weights, its step-time law, and what the batch tier is told. Pure functions.
#pragma once

#include <cstddef>
#include <optional>

#include "catalogue/catalogue.h"
#include "config/scenario_config.h"
#include "sim/world.h"
#include "units/quantity.h"

namespace tidegate::scenario {

// Tokens of a KV block, as vLLM has them by default.
inline constexpr units::Tokens kBlockTokens{16};
// Part of a GPU's memory that weights and KV may take; the rest is for activations (vLLM's
// default).
inline constexpr units::Ppm kMemoryUse{900'000};

// The model on GPUs of this type, as the scenario says. `model` and `gpu` index the scenario's
// lists.
catalogue::Placement placement_of(const config::ScenarioConfig& config, std::size_t model,
                                  std::size_t gpu);

// An engine of the model on this type of GPU, with engine id 0; nullopt when the weights do not
// leave room for a sequence of 2,048 tokens (or of the model's whole context, if that is shorter).
std::optional<sim::EngineModel> engine_model(const config::ScenarioConfig& config,
                                             std::size_t model, std::size_t gpu);

// The longest sequence that an engine of the model can hold on any GPU of the pool; 0 when it fits
// none.
units::Tokens longest_context(const config::ScenarioConfig& config, std::size_t model);

// From the start of the process until it takes requests: start, then the weights from disk.
units::Nanos start_time(const config::ScenarioConfig& config, std::size_t model);

}  // namespace tidegate::scenario
