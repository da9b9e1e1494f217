#include "gateway/prefix_chain.h"

#include <xxhash.h>

#include <memory>
#include <vector>

namespace tidegate::gateway {

domain::PrefixChain prefix_chain(std::span<const engines::Token> tokens, units::Tokens block_tokens,
                                 std::uint64_t salt) {
  const auto block = static_cast<std::size_t>(block_tokens.value());
  const std::size_t blocks = tokens.size() / block;
  if (blocks == 0) return nullptr;
  auto chain = std::make_shared<std::vector<std::uint64_t>>();
  chain->reserve(blocks);
  std::uint64_t hash = salt;
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto part = tokens.subspan(i * block, block);
    hash = XXH3_64bits_withSeed(part.data(), part.size_bytes(), hash);
    chain->push_back(hash);
  }
  return chain;
}

}  // namespace tidegate::gateway
