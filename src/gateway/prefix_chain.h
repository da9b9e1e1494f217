// The chain of block hashes by which requests with a common beginning recognise each other. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "domain/request.h"
#include "engines/tokenizer.h"
#include "units/quantity.h"

namespace tidegate::gateway {

// One XXH3-64 hash for each full block of `tokens`, seeded with the one before it, the first with
// `salt`: equal entries mean equal tokens up to there and an equal salt. A salt for each tenant and
// model keeps one tenant from finding out what another one asked (invariant S18). Null when there
// is no full block. Linear. REQUIRES: block_tokens > 0.
domain::PrefixChain prefix_chain(std::span<const engines::Token> tokens, units::Tokens block_tokens,
                                 std::uint64_t salt);

}  // namespace tidegate::gateway
