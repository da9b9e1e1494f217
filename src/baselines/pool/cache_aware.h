// Routers that know which prompts went where, with the defaults that their projects ship.
//
// PrefixAffinity is the cache-aware router of SGLang (sgl-model-gateway, policies/cache_aware.rs):
// the engine that has seen the longest prefix of the prompt, if that is more than 30 % of it, else
// the one with the fewest requests in flight; that one always while the pool is out of balance,
// which is when the most loaded has 64 requests more than the least and 1.5 times as many. SGLang
// matches characters of the text, this one the blocks of the prompt.
//
// Epp is the endpoint picker of the Gateway API inference extension (pkg/epp, default profile): of
// the scores for an empty queue (weight 2), free KV memory (2) and a known prefix (3), each between
// 0 and 1, the highest weighted sum; equals by lot. Queue and memory are the engines' last reports,
// as old as they are. Its gate (flow control with the utilisation detector): while no engine has at
// most 5 waiting and at most 80 % of its KV memory in use, requests wait in order of arrival. What
// its gate lets through at once after a report can be too much: the reports do not know of it yet.
//
// Both remember as many blocks of an engine as it has. Pure; one owner.
#pragma once

#include "baselines/pool/prefix_memory.h"
#include "units/prng.h"

namespace tidegate::baselines {

class PrefixAffinity final : public Router {
 public:
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;
  void lost(EngineIndex engine) override { memory_.forget(engine); }

 private:
  PrefixMemory memory_;
};

class Epp final : public Router {
 public:
  explicit Epp(std::uint64_t seed) : prng_(seed) {}
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;
  void lost(EngineIndex engine) override { memory_.forget(engine); }

 private:
  PrefixMemory memory_;
  units::Prng prng_;
};

}  // namespace tidegate::baselines
