// Whether rows that are left over are worth filling up to a whole tile. ggml's kernels for
// quantised weights on a CPU take four rows at a time and those left over one by one (ggml-cpu,
// repack.cpp, forward_mul_mat_one_chunk), so that three rows can take longer than four. Whether
// they do depends on the processor, the weights' format and the threads: it is measured. Pure.
#pragma once

#include <cstdint>

namespace tidegate::engines::llama {

inline constexpr std::int32_t kRowTile = 4;

struct RowFill {
  std::int32_t least = kRowTile;  // from so many rows left over on they are filled up

  // Rows to add to a pass over the weights that has so many. REQUIRES: rows >= 0.
  std::int32_t beside(std::int32_t rows) const {
    const std::int32_t rest = rows % kRowTile;
    return rest > 0 && rest >= least ? kRowTile - rest : 0;
  }
};

}  // namespace tidegate::engines::llama
