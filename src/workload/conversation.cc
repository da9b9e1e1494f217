#include "workload/conversation.h"

#include "units/check.h"

namespace tidegate::workload {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9E3779B97F4A7C15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

void write_block_ids(const PromptBlocks& prompt, std::vector<std::uint64_t>& ids) {
  TIDEGATE_CHECK(prompt.block > units::Tokens(0));
  ids.clear();
  for (units::Tokens begin(0); begin < prompt.input; begin += prompt.block) {
    const units::Tokens end = begin + prompt.block;
    const auto number = static_cast<std::uint64_t>(begin / prompt.block);
    const bool shared = end <= prompt.shared;
    const std::uint64_t id = mix(shared ? prompt.shared_content : prompt.content, number);
    // A partial block is not the block that it becomes when it is full.
    const auto missing = end > prompt.input ? end - prompt.input : units::Tokens(0);
    ids.push_back(
        missing == units::Tokens(0) ? id : mix(id, static_cast<std::uint64_t>(missing.value())));
  }
}

}  // namespace tidegate::workload
