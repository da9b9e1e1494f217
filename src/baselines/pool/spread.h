// The load balancers that any proxy has. Sources: round-robin and least-conn of nginx and HAProxy
// (vLLM's own data-parallel front and production-stack's default router are round-robin, too),
// random, and power of two choices (Mitzenmacher, 2001; Envoy's LEAST_REQUEST with choice_count 2).
// Equals are taken by lot in the random ones, by turn in the others. Pure; one owner.
#pragma once

#include <cstdint>
#include <map>

#include "baselines/pool/router.h"
#include "units/prng.h"

namespace tidegate::baselines {

// Each in turn, per model.
class RoundRobin final : public Router {
 public:
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  std::map<units::ModelId, EngineIndex> last_;
};

// The one with the fewest requests in flight; among equals the next in turn.
class LeastRequests final : public Router {
 public:
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  RoundRobin turn_;
};

// Any of them, uniformly, from the pool's seed.
class Random final : public Router {
 public:
  explicit Random(std::uint64_t seed) : prng_(seed) {}
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  units::Prng prng_;
};

// Of two different ones drawn uniformly, the one with fewer requests in flight.
class PowerOfTwo final : public Router {
 public:
  explicit PowerOfTwo(std::uint64_t seed) : prng_(seed) {}
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  units::Prng prng_;
};

// The one with the smallest share of its KV memory in use by tokens that were sent there and have
// not ended, prompts and output so far: the in-flight token count of KV-aware balancers, which
// unlike a scraped gauge is not stale. Among equals the next in turn.
class LeastKv final : public Router {
 public:
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  RoundRobin turn_;
};

}  // namespace tidegate::baselines
