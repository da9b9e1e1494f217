// Draws the next token of one request from the logits of its row. The state (random numbers,
// tokens to penalise) belongs to the request and survives its preemption. One owner, on the
// engine's thread.
#pragma once

#include <cstdint>
#include <span>

#include "engines/engine.h"
#include "engines/llama/handles.h"

namespace tidegate::engines::llama {

class Sampler {
 public:
  // `memory` is how many produced tokens the penalties look back on. REQUIRES: memory >= 0.
  Sampler(std::int32_t vocabulary, const Sampling& sampling, std::uint32_t seed,
          std::int32_t memory);

  // The next token from output `row` of the last step of `context`. Linear in the vocabulary.
  Token draw(llama_context* context, std::int32_t row);

 private:
  SamplerHandle chain_;
};

// Natural-log probability of `chosen` and of the `top` likeliest tokens (ties: lower token first)
// under softmax(logits), without their bytes. Linear in the vocabulary.
// REQUIRES: 0 <= chosen < logits.size(), top >= 0.
TokenLogprob logprobs(std::span<const float> logits, Token chosen, std::int32_t top);

}  // namespace tidegate::engines::llama
