// Which prompts went where: for each engine the blocks of the prompts that a router sent there, the
// least recently used forgotten first. Routers guess from it what an engine has cached; they are
// not told. One owner; no hash tables.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "baselines/pool/router.h"

namespace tidegate::baselines {

class PrefixMemory {
 public:
  // The engine was sent this prompt. It remembers at most `capacity` blocks. O(blocks log
  // capacity).
  void note(EngineIndex engine, const domain::PrefixChain& chain, std::size_t capacity);
  // How many of the chain's first blocks the engine was sent before. O(log blocks log capacity).
  std::size_t matched(EngineIndex engine, const domain::PrefixChain& chain) const;

  void forget(EngineIndex engine);

 private:
  struct Memory {
    std::map<std::uint64_t, std::int64_t> used;    // by block: when
    std::map<std::int64_t, std::uint64_t> oldest;  // the other way round
    std::int64_t clock = 0;
  };

  std::vector<Memory> engines_;
};

}  // namespace tidegate::baselines
