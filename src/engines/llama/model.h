// A model file, loaded: its weights, what it says about itself, and the sizes that the engine
// derives from it. Immutable after load(); shared between the engine's contexts.
#pragma once

#include <cstdint>

#include "engines/engine.h"
#include "engines/llama/handles.h"
#include "engines/llama/llama_engine.h"
#include "units/result.h"

namespace tidegate::engines::llama {

struct LoadedModel {
  ModelHandle handle;
  ModelInfo info;
};

// Error as open_engine().
units::Result<LoadedModel> load_model(const LlamaOptions& options);

// The options with every "0: choose for me" chosen, and all sizes within what the model and
// llama.cpp can do. Error: sizes that contradict each other.
struct Sizes {
  std::int32_t threads = 1;
  std::int32_t max_sequences = 1;
  std::int32_t retained = 0;  // further sequence numbers, for cached prefixes
  std::int32_t kv_tokens = 0;
  std::int32_t max_context = 0;
  std::int32_t max_step_tokens = 0;
  std::int32_t block_tokens = 16;
  bool kv_unified = true;
};
units::Result<Sizes> choose_sizes(const LlamaOptions& options, const LoadedModel& model);

// A context for generating with these sizes. Error: not enough memory.
units::Result<ContextHandle> make_context(const LoadedModel& model, const Sizes& sizes);

}  // namespace tidegate::engines::llama
