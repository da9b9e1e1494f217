#include "bounds/group_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "units/check.h"

namespace tidegate::bounds {
namespace {

constexpr double kFemto = 1e-15;

double seconds(std::int64_t femtoseconds) {
  return static_cast<double>(femtoseconds) * kFemto;
}

double slope(const domain::StepCoefficients& law, double tokens) {
  const double first = std::min(tokens, static_cast<double>(law.knees[0].value()));
  const double second =
      std::max(first, std::min(tokens, static_cast<double>(law.knees[1].value()))) - first;
  return seconds(law.per_token_fs[0]) * first + seconds(law.per_token_fs[1]) * second +
         seconds(law.per_token_fs[2]) * (tokens - first - second);
}

// The least that a row adds to the term of tiles, whatever runs beside it.
double least_row(const domain::StepCoefficients& law) {
  if (law.row_tile == 0) return 0;
  return std::min(seconds(law.stray_fs), seconds(law.tile_fs) / static_cast<double>(law.row_tile));
}

// first + (first + 1) + ... + (last - 1).
double sum_of_range(double first, double last) {
  return (last - first) * (first + last - 1) / 2;
}

}  // namespace

GroupCosts::GroupCosts(const domain::EngineSpec& spec)
    : base_(seconds(spec.law.base_fs)),
      prefill_(seconds(spec.law.prefill_fs)),
      per_decode_(seconds(spec.law.per_decode_fs) + least_row(spec.law)),
      per_kv_token_(seconds(spec.law.per_kv_token_fs)),
      per_attention_(seconds(spec.law.per_attention_fs)),
      sigma_(std::numeric_limits<double>::infinity()),
      single_slope_(slope(spec.law, 1)),
      step_tokens_(static_cast<double>(spec.limits.max_step_tokens.value())),
      seats_(static_cast<double>(spec.limits.max_sequences)),
      blocks_(static_cast<double>(spec.limits.kv_blocks.value())),
      block_tokens_(static_cast<double>(spec.kv.block_tokens.value())),
      blocks_per_sequence_(static_cast<double>(spec.kv.per_sequence.value())) {
  TIDEGATE_CHECK(step_tokens_ > 0 && seats_ > 0 && blocks_ > 0 && block_tokens_ > 0);
  const auto most = static_cast<std::size_t>(spec.limits.max_step_tokens.value());
  best_share_.reserve(most);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t m = 1; m <= most; ++m) {
    const auto tokens = static_cast<double>(m);
    best = std::min(best, (base_ + slope(spec.law, tokens)) / tokens);
    sigma_ = std::min(sigma_, slope(spec.law, tokens) / tokens);
    best_share_.push_back(best);
  }
}

double GroupCosts::prefill_steps(double tokens) const {
  return std::max(1.0, std::ceil(tokens / step_tokens_));
}

double GroupCosts::prompt_own(double first, double last) const {
  return per_attention_ * sum_of_range(first, last) + prefill_share() * (last - first);
}

double GroupCosts::decode_own(const DecodeRange& range) const {
  // Decode j reads the prompt and the j - 1 tokens before its own input.
  const double context = range.prompt - 1;
  return per_decode_ * range.count() +
         per_kv_token_ * sum_of_range(context + range.first, context + range.last);
}

double GroupCosts::decode_memory(const DecodeRange& range, double shared) const {
  const double own_tokens =
      sum_of_range(range.prompt - shared + range.first, range.prompt - shared + range.last);
  return (blocks_per_sequence_ * range.count() + own_tokens / block_tokens_) / blocks_;
}

double GroupCosts::prompt_memory(double prompt, double shared) const {
  return (blocks_per_sequence_ + (prompt - shared) / block_tokens_) / blocks_;
}

double GroupCosts::prompt_latency(double first, double last) const {
  const double tokens = last - first;
  const auto most = static_cast<std::size_t>(std::min(tokens, step_tokens_));
  // The prefill term is paid in each step, and the rest of each step is no less than this share.
  return tokens * best_share_[most - 1] + per_attention_ * sum_of_range(first, last) +
         prefill_ * prefill_steps(tokens);
}

double GroupCosts::decode_latency(const DecodeRange& range) const {
  return (base_ + single_slope_) * range.count() + decode_own(range);
}

}  // namespace tidegate::bounds
