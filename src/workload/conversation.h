// One conversation and the content ids of its prompts. The context only grows, so a block that was
// full once keeps its id in every later turn, which is what a prefix cache sees. Plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "units/quantity.h"
#include "workload/trace.h"

namespace tidegate::workload {

struct Conversation {
  Name session = 0;
  Name service_class = 0;
  std::uint64_t content = 0;  // names what it says; its blocks' ids are derived from it
  units::Tokens context{0};   // prompts and answers so far
};

// Mixes two numbers into one as good as random (the finaliser of splitmix64; Steele et al., 2014).
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

struct PromptBlocks {
  units::Tokens input{0};
  units::Tokens shared{0};           // tokens at the head that belong to `shared_content`
  units::Tokens block{512};          // tokens of one block
  std::uint64_t shared_content = 0;  // a client's system prompt
  std::uint64_t content = 0;
};

// The id of each block of a prompt, the last one perhaps partial: equal ids mean equal content and
// an equal prefix before it. Replaces `ids`. O(input / block). REQUIRES: block > 0.
void write_block_ids(const PromptBlocks& prompt, std::vector<std::uint64_t>& ids);

}  // namespace tidegate::workload
