// A model file, loaded: its weights and what it says about itself. Immutable after load(); shared
// between the engine's contexts.
#pragma once

#include <cstdint>

#include "engines/engine.h"
#include "engines/llama/handles.h"
#include "engines/llama/llama_engine.h"
#include "engines/llama/sizes.h"
#include "units/result.h"

namespace tidegate::engines::llama {

struct LoadedModel {
  ModelHandle handle;
  ModelInfo info;
};

// Error as open_engine().
units::Result<LoadedModel> load_model(const LlamaOptions& options);

// What its sizes depend on.
ModelNeeds needs_of(const LoadedModel& model);

// A context for generating with these sizes. Error: not enough memory.
units::Result<ContextHandle> make_context(const LoadedModel& model, const Sizes& sizes);

}  // namespace tidegate::engines::llama
