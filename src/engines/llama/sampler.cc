#include "engines/llama/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tidegate::engines::llama {
namespace {

bool penalises(const Sampling& s) {
  return s.repeat_penalty != 1 || s.frequency_penalty != 0 || s.presence_penalty != 0;
}

void add_bias(llama_sampler* chain, std::int32_t vocabulary, const std::vector<LogitBias>& bias) {
  if (bias.empty()) return;
  std::vector<llama_logit_bias> entries;
  entries.reserve(bias.size());
  for (const LogitBias& b : bias) entries.push_back({b.token, b.bias});
  llama_sampler_chain_add(
      chain, llama_sampler_init_logit_bias(vocabulary, static_cast<std::int32_t>(entries.size()),
                                           entries.data()));
}

}  // namespace

Sampler::Sampler(std::int32_t vocabulary, const Sampling& s, std::uint32_t seed,
                 std::int32_t memory)
    : chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())) {
  llama_sampler* chain = chain_.get();
  add_bias(chain, vocabulary, s.logit_bias);
  if (penalises(s)) {
    llama_sampler_chain_add(chain,
                            llama_sampler_init_penalties(vocabulary, memory, s.repeat_penalty,
                                                         s.frequency_penalty, s.presence_penalty));
  }
  if (s.temperature <= 0) {
    llama_sampler_chain_add(chain, llama_sampler_init_greedy());
    return;
  }
  if (s.top_k > 0) llama_sampler_chain_add(chain, llama_sampler_init_top_k(s.top_k));
  if (s.top_p < 1) llama_sampler_chain_add(chain, llama_sampler_init_top_p(s.top_p, 1));
  if (s.min_p > 0) llama_sampler_chain_add(chain, llama_sampler_init_min_p(s.min_p, 1));
  llama_sampler_chain_add(chain, llama_sampler_init_temp(s.temperature));
  llama_sampler_chain_add(chain, llama_sampler_init_dist(seed));
}

Token Sampler::draw(llama_context* context, std::int32_t row) {
  return llama_sampler_sample(chain_.get(), context, row);
}

TokenLogprob logprobs(std::span<const float> logits, Token chosen, std::int32_t top) {
  const float peak = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - peak));
  const double shift = static_cast<double>(peak) + std::log(sum);
  const auto entry = [&](Token token) {
    const double logit = static_cast<double>(logits[static_cast<std::size_t>(token)]);
    return Alternative{token, {}, static_cast<float>(logit - shift)};
  };

  const auto count = std::min(static_cast<std::size_t>(top), logits.size());
  std::vector<Token> order(count == 0 ? 0 : logits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Token>(i);
  const auto likelier = [&](Token a, Token b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), end, order.end(), likelier);

  TokenLogprob result{entry(chosen), {}};
  result.top.reserve(count);
  for (auto it = order.begin(); it != end; ++it) result.top.push_back(entry(*it));
  return result;
}

}  // namespace tidegate::engines::llama
