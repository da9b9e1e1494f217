// The KV memory law: how many blocks a sequence of so many tokens needs on a given engine. The gate
// at admission, the ledger and the block table all ask here. Pure functions.
#pragma once

#include "domain/engine_spec.h"
#include "domain/footprint.h"
#include "units/quantity.h"

namespace tidegate::cost {

// per_sequence + ceil(tokens / block_tokens). REQUIRES: tokens >= 0, shape.block_tokens > 0.
units::Blocks blocks_for(const domain::KvShape& shape, units::Tokens tokens);

// Could this request ever run on this engine if it were alone there? The same answer refuses a
// hopeless request at arrival and guards the block table (invariant S9).
bool can_ever_fit(const domain::EngineSpec& engine, const domain::Footprint& footprint);

}  // namespace tidegate::cost
