// What one group of engines costs at the least, a token at a time: the terms that demand.h names,
// worked out of a step-time law. Plain values in seconds of the law, before noise.
#pragma once

#include <vector>

#include "domain/engine_spec.h"
#include "units/quantity.h"

namespace tidegate::bounds {

// Tokens [first, last) of an output, of a prompt of so many tokens.
struct DecodeRange {
  double prompt = 0;
  double first = 1;
  double last = 1;
  double count() const { return last - first; }
};

class GroupCosts {
 public:
  // O(M). REQUIRES: the engine can run a step: M, N, C > 0.
  explicit GroupCosts(const domain::EngineSpec& spec);

  double base() const { return base_; }
  double tau() const { return best_share_.back(); }  // best (base + slope)/m of all batches
  double sigma() const { return sigma_; }
  double prefill_share() const { return prefill_ / step_tokens_; }
  double prefill_steps(double tokens) const;  // at the least

  // Own cost of computing prompt tokens [first, last).
  double prompt_own(double first, double last) const;
  // Sum of the own costs of these decodes.
  double decode_own(const DecodeRange& range) const;
  // Sum over these decodes of the part of the engine's KV memory that is held, without `shared`
  // tokens. O(1).
  double decode_memory(const DecodeRange& range, double shared) const;
  double prompt_memory(double prompt, double shared) const;
  double seat() const { return 1 / seats_; }

  // Shortest time to compute prompt tokens [first, last), and these decodes, on an idle engine.
  double prompt_latency(double first, double last) const;
  double decode_latency(const DecodeRange& range) const;

 private:
  double base_ = 0;
  double prefill_ = 0;
  double per_decode_ = 0;
  double per_kv_token_ = 0;
  double per_attention_ = 0;
  double sigma_ = 0;
  double single_slope_ = 0;  // slope(1)
  double step_tokens_ = 1;
  double seats_ = 1;
  double blocks_ = 1;
  double block_tokens_ = 1;
  double blocks_per_sequence_ = 0;
  std::vector<double> best_share_;  // entry m - 1: min over 1..m of (base + slope)/m
};

}  // namespace tidegate::bounds
