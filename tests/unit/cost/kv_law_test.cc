#include "cost/kv_law.h"

#include <gtest/gtest.h>

namespace tidegate::cost {
namespace {

using units::Blocks;
using units::Tokens;

void expect_counted(Tokens block, Blocks fixed) {
  Blocks blocks = fixed;
  for (std::int64_t tokens = 0; tokens < 100; ++tokens) {
    EXPECT_EQ(blocks_for({block, fixed}, Tokens(tokens)), blocks);
    if (tokens % block.value() == 0) blocks += Blocks(1);
  }
}

// Law: a sequence takes its fixed blocks and as many as a token-by-token count fills.
TEST(KvLaw, BlocksAreCountedTokenByToken) {
  for (const std::int64_t block : {1, 2, 16, 17}) {
    for (const std::int64_t fixed : {0, 3}) expect_counted(Tokens(block), Blocks(fixed));
  }
}

domain::EngineSpec small_engine() {
  domain::EngineSpec spec;
  spec.limits = {Blocks(10), 1, Tokens(8), Tokens(150)};
  spec.kv = {Tokens(16), Blocks(1)};
  return spec;
}

domain::Footprint size(std::int64_t prompt, std::int64_t output) {
  domain::Footprint footprint;
  footprint.prompt = Tokens(prompt);
  footprint.max_output = Tokens(output);
  return footprint;
}

// Law: a request fits for ever iff prompt + max_output is within the context and its blocks are
// within all there are: here 9 blocks of 16 beside the fixed one, so 144 tokens.
TEST(KvLaw, FitIsExactAtTheEdge) {
  EXPECT_TRUE(can_ever_fit(small_engine(), size(140, 4)));
  EXPECT_FALSE(can_ever_fit(small_engine(), size(140, 5)));
  domain::EngineSpec roomy = small_engine();
  roomy.limits.kv_blocks = Blocks(100);
  EXPECT_TRUE(can_ever_fit(roomy, size(149, 1)));
  EXPECT_FALSE(can_ever_fit(roomy, size(150, 1)));
}

void expect_fits_by_blocks(const domain::EngineSpec& spec) {
  for (std::int64_t tokens = 2; tokens < 200; ++tokens) {
    EXPECT_EQ(can_ever_fit(spec, size(1, tokens - 1)),
              blocks_for(spec.kv, Tokens(tokens)) <= spec.limits.kv_blocks);
  }
}

// Law: the answer is that of counting blocks, for every length, block size and fixed cost.
TEST(KvLaw, FitCountsBlocks) {
  domain::EngineSpec spec = small_engine();
  spec.limits.max_context = Tokens(1'000);
  for (const std::int64_t block : {1, 3, 16}) {
    for (const std::int64_t fixed : {0, 4, 10, 11}) {
      spec.kv = {Tokens(block), Blocks(fixed)};
      expect_fits_by_blocks(spec);
    }
  }
}

// Law: nothing fits an engine that runs nothing, and an absurd size does not wrap into fitting.
TEST(KvLaw, NothingFitsNowhere) {
  domain::EngineSpec spec = small_engine();
  spec.limits.max_sequences = 0;
  EXPECT_FALSE(can_ever_fit(spec, size(1, 1)));
  spec = small_engine();
  spec.limits.max_step_tokens = Tokens(0);
  EXPECT_FALSE(can_ever_fit(spec, size(1, 1)));
  spec = small_engine();
  EXPECT_FALSE(can_ever_fit(spec, size(INT64_MAX, INT64_MAX)));
}

}  // namespace
}  // namespace tidegate::cost
