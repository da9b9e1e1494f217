// Random worlds, drawn from a seed: engines, tenants, classes, requests. Sizes are small and limits
// are sometimes 1, because tiny worlds reach their corners soonest; each run first switches a
// random part of its troubles off (swarm testing, Groce et al., ISSTA 2012).
#pragma once

#include <array>
#include <cstdint>

#include "batch/batch_config.h"
#include "domain/request.h"
#include "engine_model.h"
#include "pool/config.h"
#include "units/prng.h"

namespace tidegate::swarm {

// The troubles of one run. Probabilities are per opportunity.
struct Knobs {
  std::int64_t engines = 1;
  std::int64_t models = 1;
  std::int64_t tenants = 1;
  std::array<units::Tokens, 2> block_tokens{};  // by model: prefix hashes are per block
  std::int64_t arrivals = 8;
  units::Nanos gap_max = units::milliseconds(50);
  units::Ppm cancel{0};
  units::Ppm crash{0};   // of some engine, between two arrivals
  units::Ppm drain{0};   // (the same)
  units::Ppm silent{0};  // of a crash: nobody says EngineLost
  units::Ppm rogue{0};   // an engine tells nonsense
  units::Ppm duplicate{0};
  units::Ppm step_fault{0};
  units::Ppm noise{0};
  units::Nanos delay_max{0};  // of messages between the tiers
  bool wrong_law = false;
  bool pool_drains = false;
};

Knobs draw_knobs(units::Prng& prng);
pool::PoolConfig draw_pool(units::Prng& prng, const Knobs& knobs);
domain::EngineSpec draw_engine(units::Prng& prng, const Knobs& knobs, units::EngineId id);
batch::BatchConfig draw_batch(units::Prng& prng, const domain::EngineSpec& spec);
// A request of a random tenant for a random model. Its promise is relative to an arrival at zero;
// the caller sets id and arrival and moves the promise.
domain::Request draw_request(units::Prng& prng, const Knobs& knobs, const pool::PoolConfig& config);

}  // namespace tidegate::swarm
