// Which engine takes a request: among those that can keep the promise, the one where it costs the
// others least. Deterministic for a given generator. Pure but for the generator that breaks ties.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pool/admission/predicate.h"
#include "pool/placement/engine_view.h"
#include "units/prng.h"

namespace tidegate::pool {

using EngineIndex = std::uint32_t;

struct Choice {
  std::optional<EngineIndex> engine;
  // Of the chosen engine; without one, of the engine that is predicted to have room first.
  Verdict verdict;
  bool any_ready = false;
};

struct Candidates {
  const std::vector<EngineView>& engines;
  std::span<const EngineIndex> indexes;   // those to look at
  std::optional<EngineIndex> avoid = {};  // left out while another one could take it
};

// What a verdict depends on beside the request and the engine.
struct Basis {
  const PoolPolicy& policy;
  units::Instant now;
};

// Is the engine ready, and could it ever hold the request?
bool could_use(const domain::Request& request, const EngineView& engine);

// Least [added prefill time] x [step time after]; equals by lot. O(candidates x feasible()).
Choice choose(const Ask& ask, const Candidates& candidates, const Basis& basis, units::Prng& prng);

}  // namespace tidegate::pool
