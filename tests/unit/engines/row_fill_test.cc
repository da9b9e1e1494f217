#include "engines/llama/row_fill.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tidegate::engines::llama {
namespace {

// A kernel on which a token takes `kToken` and attention nothing in tiles of 64 rows, but one for
// each row and token before it otherwise; rows left over of four cost nothing.
constexpr std::int64_t kToken = 400;
std::int64_t time_of(std::int64_t rows, std::int64_t context) {
  return rows * kToken + (rows < kChunkTile ? rows * (context + rows / 2) : 0);
}

// A chunk of less than a tile is filled up to one exactly where that takes less time.
TEST(RowFill, FillsUpToATileWhereThatIsFaster) {
  const RowFill fill{.attention_per_token = kToken};
  for (std::int32_t rows = 1; rows < kChunkTile - 1; ++rows) {
    for (std::int32_t context = 0; context < 4'000; context += 7) {
      const std::int64_t plain = time_of(rows, context);
      const std::int64_t filled = time_of(kChunkTile, context);
      if (plain == filled) continue;
      const std::int32_t faster = filled < plain ? kChunkTile - rows : fill.beside(rows);
      EXPECT_EQ(fill.behind(rows, context), faster) << rows << " behind " << context;
    }
  }
}

// One token that lacks for a tile is added always, and none behind a whole one.
TEST(RowFill, AddsTheLastTokenOfATile) {
  for (const std::int32_t rows : {63, 127, 191}) EXPECT_EQ(RowFill().behind(rows, 0), 1);
  for (const std::int32_t rows : {64, 128}) EXPECT_EQ(RowFill().behind(rows, 4'000), 0);
}

// Where the kernels have no tiles of attention only rows left over of four are filled up, and only
// from as many as was found worth it.
TEST(RowFill, FillsUpRowsOfFour) {
  const RowFill fill{.least = 3};
  for (std::int32_t rows = 0; rows < 63; ++rows) {
    EXPECT_EQ(fill.behind(rows, 4'000), rows % 4 == 3 ? 1 : 0) << rows;
    EXPECT_EQ(fill.beside(rows), rows % 4 == 3 ? 1 : 0) << rows;
  }
}

}  // namespace
}  // namespace tidegate::engines::llama
