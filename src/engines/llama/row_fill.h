// Whether rows that are left over are worth filling up to a whole tile. ggml's kernels for
// quantised weights on a CPU take four rows at a time and those left over one by one (ggml-cpu,
// repack.cpp, forward_mul_mat_one_chunk), so that three rows can take longer than four. Whether
// they do depends on the processor, the weights' format and the threads: it is measured. Pure.
#pragma once

#include <cstdint>

namespace tidegate::engines::llama {

inline constexpr std::int32_t kRowTile = 4;
// Rows of one sequence that ggml's flash attention on a CPU takes together. Measured with 100M
// parameters in Q4_0 on one thread: a chunk of 64 tokens takes 54 ms, one of 63 takes 67.
inline constexpr std::int32_t kChunkTile = 64;

struct RowFill {
  std::int32_t least = kRowTile;  // from so many rows left over on they are filled up

  // Rows to add to a pass over the weights that has so many. REQUIRES: rows >= 0.
  std::int32_t beside(std::int32_t rows) const {
    const std::int32_t rest = rows % kRowTile;
    return rest > 0 && rest >= least ? kRowTile - rest : 0;
  }
  // Tokens to add behind a chunk of which a pass computes so many. One that lacks for a tile of
  // attention is always worth it. REQUIRES: rows >= 0.
  std::int32_t behind(std::int32_t rows) const {
    return rows % kChunkTile == kChunkTile - 1 ? 1 : beside(rows);
  }
};

}  // namespace tidegate::engines::llama
