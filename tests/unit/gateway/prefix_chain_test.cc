#include "gateway/prefix_chain.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tidegate::gateway {
namespace {

std::vector<engines::Token> tokens(std::size_t count) {
  std::vector<engines::Token> list(count);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

constexpr units::Tokens kBlock(16);

// One entry for each full block; none at all for less than a block.
TEST(PrefixChain, CountsFullBlocks) {
  EXPECT_EQ(prefix_chain(tokens(15), kBlock, 1), nullptr);
  EXPECT_EQ(prefix_chain(tokens(16), kBlock, 1)->size(), 1u);
  EXPECT_EQ(prefix_chain(tokens(47), kBlock, 1)->size(), 2u);
}

// Entries agree exactly as far as the tokens do; after a difference none does.
TEST(PrefixChain, FollowsTheCommonBeginning) {
  auto other = tokens(64);
  other[20] += 1;
  const auto a = prefix_chain(tokens(64), kBlock, 1);
  const auto b = prefix_chain(other, kBlock, 1);
  EXPECT_EQ((*a)[0], (*b)[0]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NE((*a)[i], (*b)[i]);
}

// Another salt shares nothing (invariant S18).
TEST(PrefixChain, IsSalted) {
  EXPECT_NE(prefix_chain(tokens(16), kBlock, 1)->front(),
            prefix_chain(tokens(16), kBlock, 2)->front());
}

}  // namespace
}  // namespace tidegate::gateway
