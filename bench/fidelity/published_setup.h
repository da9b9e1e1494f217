// What QoServe published about the engine it was measured on (Goel et al., ASPLOS 2026), and
// requests as its authors drew them: lengths of a trace's rows at random, Poisson arrivals, each
// request in one of several classes alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/service_class.h"
#include "sim/world.h"
#include "units/prng.h"
#include "workload/trace.h"

namespace tidegate::bench {

// Llama-3-8B on one A100 of 80 GB, and the classes as the only ones of one tenant. A policy with
// static chunks (sarathi, edf) gets those that QoServe's authors gave it: what keeps a step with
// decodes under 50 ms. REQUIRES: `policy` is known.
sim::World published_world(const std::string& policy, std::vector<domain::ServiceClass> classes);

domain::ServiceClass service_class(std::uint64_t id, const char* name);

// Rates in requests a second; two of them take turns of a quarter of an hour.
struct Load {
  double rate = 1;
  double other_rate = 1;
  int seconds = 3'600;  // how long requests arrive
};

// Draws requests one by one; nothing when the time is over.
class PoissonArrivals {
 public:
  // REQUIRES: `trace` has rows and outlives the arrivals.
  PoissonArrivals(const workload::Trace& trace, const Load& load,
                  std::vector<domain::ServiceClass> classes, std::uint64_t seed);
  std::optional<sim::WorldRequest> next();

 private:
  bool advance();

  const workload::Trace* trace_;
  Load load_;
  std::vector<domain::ServiceClass> classes_;
  units::Prng prng_;
  double now_s_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace tidegate::bench
