// Whether rows that are left over are worth filling up to a whole tile. ggml's kernels for
// quantised weights on a CPU take four rows at a time and those left over one by one (ggml-cpu,
// repack.cpp, forward_mul_mat_one_chunk), so that three rows can take longer than four. Whether
// they do depends on the processor, the weights' format and the threads: it is measured. Pure.
#pragma once

#include <cstdint>

namespace tidegate::engines::llama {

inline constexpr std::int32_t kRowTile = 4;
// Rows of one sequence that ggml's flash attention on a CPU takes together; fewer it takes one by
// one (ggml-cpu, ops.cpp, ggml_compute_forward_flash_attn_ext_f16). With 100M parameters in Q4_0 on
// one thread a chunk of 64 tokens takes 54 ms, one of 63 takes 67; behind 512 tokens 64 take 77 ms,
// and 60 take 138.
inline constexpr std::int32_t kChunkTile = 64;

struct RowFill {
  std::int32_t least = kRowTile;  // from so many rows left over on they are filled up
  // Attention, in rows x tokens before them, taken one by one, that takes as much longer than in a
  // tile as one more token takes; from that for each that lacks on a chunk is filled up to a tile.
  std::int64_t attention_per_token = kNeverTiled;
  static constexpr std::int64_t kNeverTiled = std::int64_t{1} << 40;

  // Rows to add to a pass over the weights that has so many. REQUIRES: rows >= 0.
  std::int32_t beside(std::int32_t rows) const {
    const std::int32_t rest = rows % kRowTile;
    return rest > 0 && rest >= least ? kRowTile - rest : 0;
  }
  // Tokens to add behind a chunk of which a pass computes so many, with `context` before them. One
  // that lacks for a tile of attention is always worth it. REQUIRES: both >= 0.
  std::int32_t behind(std::int32_t rows, std::int32_t context) const {
    const std::int32_t lacking = kChunkTile - rows % kChunkTile;
    const std::int64_t attention = std::int64_t{rows} * (context + rows / 2);
    const bool tile = rows < kChunkTile && attention >= attention_per_token * lacking;
    return lacking == 1 || tile ? lacking : beside(rows);
  }
};

}  // namespace tidegate::engines::llama
