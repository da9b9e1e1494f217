// Engines as a router sees them, for tests of placement rules.
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/pool/router.h"

namespace tidegate::baselines {

// Engines with 100 blocks of 16 tokens, or as given. At most eight.
struct Engines {
  std::vector<domain::EngineSpec> specs;
  std::vector<Target> targets;

  void add(std::int64_t in_flight, std::int64_t tokens, std::int64_t blocks = 100) {
    specs.reserve(8);
    domain::EngineSpec spec;
    spec.limits.kv_blocks = units::Blocks(blocks);
    specs.push_back(spec);
    Target target;
    target.index = targets.size();
    target.spec = &specs.back();
    target.in_flight = in_flight;
    target.tokens = units::Tokens(tokens);
    targets.push_back(target);
  }
};

}  // namespace tidegate::baselines
