// What the batch tier is told about a llama.cpp engine: facts of the engine and of the kernels that
// run its steps. Pure, so that whoever models such an engine tells its batch tier the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "batch/batch_config.h"

namespace tidegate::engines::llama {

// Rows in a step from which ggml's flash attention on a CPU works in tiles. Measured with 100M
// parameters in Q4_0 on one thread: a chunk of 64 tokens behind 256 takes 71 ms, one of 48
// takes 79.
inline constexpr units::Tokens kTile{64};

// How many finished prompts are kept for others that begin alike, and how many blocks of them in
// all.
struct Retention {
  std::int64_t slots = 0;
  units::Blocks blocks{0};
};

// Without a pool for all sequences cached prompts are kept beside the memory that sequences run in.
inline batch::BatchConfig batching(const domain::EngineSpec& spec, const Retention& retention,
                                   bool kv_unified) {
  batch::BatchConfig config;
  config.spec = spec;
  config.retained_slots = retention.slots;
  config.max_retained = retention.blocks;
  // Without a common pool llama.cpp runs the first row of every sequence in a pass of its own.
  const units::Tokens tile = kv_unified ? kTile : kTile + units::Tokens(1);
  config.chunk_tile = std::min(tile, spec.limits.max_step_tokens);
  config.min_chunk = config.chunk_tile;
  return config;
}

}  // namespace tidegate::engines::llama
