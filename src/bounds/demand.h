// Makes an instance out of requests, their true output lengths and the engines: the least that each
// request costs an engine if its promise is kept, and when.
//
// A step with n decodes, P prompt tokens, m = n + P takes
//   T = base + slope(m) + prefill [P > 0] + sum of own costs,
// own = per_decode + per_kv * context for a decode and per_attention * position for a prompt token
// (domain/engine_spec.h). Noise makes it shorter by at most 1 - noise, which multiplies everything
// below. A step that computes a token due at d of a request that came at a begins after a and ends
// by d. So if the time of each step is divided among its tokens, what falls to a part of a request
// lies inside that part's window, and the parts inside a window [s, e] add up to no more than the
// engines' time in it. Four ways of dividing, M = most tokens in a step, C = KV blocks, N = seats,
// sigma = min over m <= M of slope(m)/m:
//  - compute: base + slope(m) >= tau * m with tau = min over m <= M of (base + slope(m))/m, the
//    best batch there is. A token costs tau + own. The prefill term is shared by at most M tokens.
//  - memory: residents hold at most C blocks, so base >= base * (blocks held by all in it)/C. A
//    token costs base * blocks/C + sigma + own: block-seconds at the shortest step, and more.
//  - seats: as memory, with one of N seats in place of blocks/C.
//  - pace: a step of length T holds own costs and slopes of at most T - base, so each of them
//    stands for T/(T - base) of itself: convex and falling in T. The n decodes of a request happen
//    in n steps of total length <= L, the time from its earliest first token to its last due time;
//    by Jensen they cost at least (least own + sigma) * n * T/(T - base) at T = L/n.
// A block of a prompt that several requests have costs and occupies only for the one that arrived
// first: if that one is kept, its engine computed the block after it arrived and before its first
// token was due, whoever it did it for. Earliest times assume that the request has an engine alone.
//
// Holds for policies that serve a request on one engine from its last start to its end, without
// speculation, and in which recomputing after a preemption saves no time. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bounds/instance.h"
#include "domain/engine_spec.h"
#include "domain/request.h"
#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::bounds {

// A request with what only a clairvoyant knows.
struct Offered {
  units::ModelId model;
  units::Instant arrival;
  domain::Promise promise;
  units::Tokens prompt{1};
  std::int64_t shared_blocks = 0;                   // at its start: those of earlier requests
  units::Tokens output{1};                          // at least 1 is produced
  units::Instant leaves = units::Instant::never();  // the caller hangs up
  double weight = 1;
};

// Who had each block of a prompt first. Keeps one bit of 16 MiB for each block, so two contents may
// look like one: then a prompt is taken for cheaper than it is, and a bound stays a bound.
class PromptOwners {
 public:
  // How many blocks at the start of the prompt earlier calls had, of the same model. Calls go by
  // arrival. O(blocks of the prompt).
  std::int64_t shared_blocks(const domain::Request& request);

 private:
  std::vector<bool> seen_;  // empty until the first block
};

// One engine of the pool: spec.law is what its steps really take.
using Engine = domain::EngineSpec;

struct Setting {
  units::Ppm step_noise{0};                          // steps take their law times 1 +- this
  units::Instant horizon = units::Instant::never();  // what is not complete here is lost
};

// Engines with the same model, law and memory form a group. Best effort is due at the horizon.
// O(requests * kinds of engines + engines * kinds + M). REQUIRES: step_noise < 1'000'000; a horizon
// that is not never() when there is best effort.
Instance instance(std::span<const Offered> requests, std::span<const Engine> engines,
                  const Setting& setting);

}  // namespace tidegate::bounds
