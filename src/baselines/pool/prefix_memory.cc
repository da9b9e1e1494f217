#include "baselines/pool/prefix_memory.h"

#include <algorithm>

namespace tidegate::baselines {

// From the last block to the first: a block is never older than those behind it, so that what is
// forgotten first is the tail, and what is remembered of a chain is a prefix of it.
void PrefixMemory::note(EngineIndex engine, const domain::PrefixChain& chain,
                        std::size_t capacity) {
  if (chain == nullptr) return;
  if (engine >= engines_.size()) engines_.resize(engine + 1);
  Memory& memory = engines_[engine];
  for (auto block = chain->rbegin(); block != chain->rend(); ++block) {
    const auto [entry, fresh] = memory.used.try_emplace(*block, 0);
    if (!fresh) memory.oldest.erase(entry->second);
    entry->second = ++memory.clock;
    memory.oldest.emplace(memory.clock, *block);
  }
  while (memory.used.size() > capacity) {
    memory.used.erase(memory.oldest.begin()->second);
    memory.oldest.erase(memory.oldest.begin());
  }
}

std::size_t PrefixMemory::matched(EngineIndex engine, const domain::PrefixChain& chain) const {
  if (chain == nullptr || engine >= engines_.size()) return 0;
  const Memory& memory = engines_[engine];
  const auto end = std::partition_point(chain->begin(), chain->end(), [&](std::uint64_t block) {
    return memory.used.contains(block);
  });
  return static_cast<std::size_t>(end - chain->begin());
}

void PrefixMemory::forget(EngineIndex engine) {
  if (engine < engines_.size()) engines_[engine] = {};
}

}  // namespace tidegate::baselines
