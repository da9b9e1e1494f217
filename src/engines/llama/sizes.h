// How large an engine is: derived from its options, the model and what llama.cpp can do. Pure but
// for the number of cores.
//
// With one pool for all: 16384 cells, fewer if they are large; 32 sequences; any sequence may take
// the pool. With a share for each, what is left open is chosen so that each has the context asked
// for, or the model's up to kUsualContext; as many sequences as the memory has room for, 32 at
// most; 2 GiB of memory in all, a fifth of it for cached prompts.
//
// Where the kind of memory is left open too, it is shares if each of the sequences asked for, or of
// kEnoughSequences, then has the context that the pool would give it (whatever fits into a pool
// still fits) and prompts can be cached beside them, which a sliding window prevents.
#pragma once

#include <cstdint>

#include "engines/llama/batching.h"
#include "engines/llama/llama_engine.h"
#include "units/result.h"

namespace tidegate::engines::llama {

inline constexpr std::int32_t kUsualContext = 4096;
inline constexpr std::int32_t kEnoughSequences = 8;

struct Sizes {
  std::int32_t threads = 1;
  std::int32_t max_sequences = 1;
  std::int32_t retained = 0;       // further slots, for cached prompts
  std::int32_t kv_tokens = 0;      // cells of the context
  std::int32_t cached_tokens = 0;  // in cached prompts: of the pool, or beside the shares
  std::int32_t max_context = 0;
  std::int32_t max_step_tokens = 0;
  std::int32_t block_tokens = 16;
  bool kv_unified = false;
  bool sliding_window = false;  // some layers of the model look back only so far

  // Tokens that running sequences and cached prompts hold together.
  std::int64_t held_tokens() const {
    return std::int64_t{kv_tokens} + (kv_unified ? 0 : cached_tokens);
  }
};

// What the sizes depend on in a model.
struct ModelNeeds {
  std::int64_t kv_bytes_per_token = 1;
  std::int32_t trained_context = 1;
  bool sliding_window = false;
};

// Error: sizes that contradict each other.
units::Result<Sizes> choose_sizes(const LlamaOptions& options, const ModelNeeds& model);

// For batching().
Retention retention(const Sizes& sizes);

}  // namespace tidegate::engines::llama
