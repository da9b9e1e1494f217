// What an engine is: its memory, its limits and the coefficients of its step time. Plain values
// that an engine reports when it joins; the laws that read them are in cost/.
#pragma once

#include <cstdint>

#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

// One line of the step-time law, in femtoseconds per unit, every coefficient >= 0:
//   base + per_decode*n + per_kv_token*K + per_prefill_token*P + per_attention*X
// with n decoding sequences, K resident KV tokens they read, P prefill tokens, and
// X = sum over chunks of chunk * (context before it + chunk / 2).
struct StepLine {
  std::int64_t base_fs = 0;
  std::int64_t per_decode_fs = 0;
  std::int64_t per_kv_token_fs = 0;
  std::int64_t per_prefill_token_fs = 0;
  std::int64_t per_attention_fs = 0;

  friend bool operator==(const StepLine&, const StepLine&) = default;
};

// The step time is the larger of the two lines: left of the compute knee reading weights and KV
// from memory binds, right of it arithmetic does. An engine with one regime sets both lines equal.
struct StepCoefficients {
  StepLine memory_bound;
  StepLine compute_bound;

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
