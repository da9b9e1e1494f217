// What the batch tier is told about a llama.cpp engine: facts of the engine and of the kernels that
// run its steps. Pure, so that whoever models such an engine tells its batch tier the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "batch/batch_config.h"
#include "engines/llama/row_fill.h"

namespace tidegate::engines::llama {

// How many finished prompts are kept for others that begin alike, and how many blocks of them in
// all.
struct Retention {
  std::int64_t slots = 0;
  units::Blocks blocks{0};
};

// Without a pool for all sequences cached prompts are kept beside the memory that sequences run in.
// A chunk is whole tiles of attention; where its first token is computed in another pass, a filler
// takes its place (row_fill.h). Fewer rows than a tile are not attended to by tiles (ggml-cpu,
// ops.cpp, use_tiled), so that the last of a prompt is at least one, too.
inline batch::BatchConfig batching(const domain::EngineSpec& spec, const Retention& retention) {
  batch::BatchConfig config;
  config.spec = spec;
  config.retained_slots = retention.slots;
  config.max_retained = retention.blocks;
  config.chunk_tile = std::min(units::Tokens(kChunkTile), spec.limits.max_step_tokens);
  config.min_chunk = config.chunk_tile;
  config.least_rest = config.chunk_tile;
  return config;
}

}  // namespace tidegate::engines::llama
