// How much KV memory is left on an engine beside the weights. Pure functions.
#pragma once

#include "catalogue/catalogue.h"
#include "units/quantity.h"

namespace tidegate::catalogue {

// KV bytes of one token on each of the GPUs: divided by tensor parallelism, but not below one KV
// head a GPU.
units::Bytes kv_bytes_per_token(const Placement& placement);

// KV blocks of `block_tokens` that fit beside the weights when `use` of the memory may be taken
// (engines leave some for activations: 0.9 is usual); 0 when the weights alone do not fit.
// REQUIRES: block_tokens > 0, gpu and model are set.
units::Blocks kv_blocks(const Placement& placement, units::Tokens block_tokens, units::Ppm use);

}  // namespace tidegate::catalogue
