// What an engine is: its memory, its limits and the coefficients of its step time. Plain values
// that an engine reports when it joins; the laws that read them are in cost/.
#pragma once

#include <array>
#include <cstdint>

#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// The step-time law of one engine, in femtoseconds per unit, every coefficient >= 0:
//   base + slope(m) + prefill*[P > 0] + per_decode*n + per_kv_token*K + per_attention*X + tiles(r)
// with n decoding sequences, K resident KV tokens they read, P prefill tokens, m = n + P, r = n +
// [P > 0], and X = sum over chunks of chunk * (context before it + chunk / 2). slope(m) is
// piecewise linear with two knees: reading the weights binds left of the compute knee, arithmetic
// right of it, and a mixture of experts first pays for each expert that a token touches. tiles(r)
// is for kernels that compute rows some at a time: tile_fs for each full tile, stray_fs for each
// row left over, but at most what fills a tile. Zeros leave it out. (docs/adr/0006-step-law.md.)
struct StepCoefficients {
  std::int64_t base_fs = 0;
  std::array<units::Tokens, 2> knees{};        // ascending; equal knees leave the middle unused
  std::array<std::int64_t, 3> per_token_fs{};  // slope up to the first knee, between, beyond
  std::int64_t prefill_fs = 0;                 // once, when the step has any prefill
  std::int64_t per_decode_fs = 0;
  std::int64_t per_kv_token_fs = 0;
  std::int64_t per_attention_fs = 0;
  std::int64_t row_tile = 0;  // rows of a tile; 0 where there are none
  std::int64_t tile_fs = 0;
  std::int64_t stray_fs = 0;

  friend bool operator==(const StepCoefficients&, const StepCoefficients&) = default;
};

// Memory of a sequence is affine: blocks = per_sequence + ceil(tokens / block_tokens).
struct KvShape {
  units::Tokens block_tokens{16};
  units::Blocks per_sequence{0};

  friend bool operator==(const KvShape&, const KvShape&) = default;
};

struct EngineLimits {
  units::Blocks kv_blocks{0};
  std::int64_t max_sequences = 0;    // running at once
  units::Tokens max_step_tokens{0};  // decodes + prefill tokens in one step
  units::Tokens max_context{0};      // prompt + output of one sequence

  friend bool operator==(const EngineLimits&, const EngineLimits&) = default;
};

struct EngineSpec {
  units::EngineId id;
  units::Epoch epoch;
  units::ModelId model;
  EngineLimits limits;
  KvShape kv;
  StepCoefficients law;
  // False until the law was measured on this engine: gates then run in shadow (scheduling, 1).
  bool calibrated = false;
  // True when the engine takes Assign with tier and due times and batches with our own scheduler.
  bool own_batching = true;

  friend bool operator==(const EngineSpec&, const EngineSpec&) = default;
};

}  // namespace tidegate::domain
