#include "engines/llama/sizes.h"

#include <algorithm>
#include <string>
#include <thread>

namespace tidegate::engines::llama {
namespace {

constexpr std::int64_t kLlamaSequences = 256;  // LLAMA_MAX_SEQ of llama.cpp v0.4.0
constexpr std::int64_t kCells = 256;           // llama.cpp takes contexts in multiples of this
constexpr std::int64_t kUsualSequences = 32;
constexpr std::int64_t kUsualPool = 16384;
constexpr std::int64_t kUsualBytes = std::int64_t{2} << 30;
constexpr std::int64_t kCachedPrompts = 64;  // without a pool they need no sequence of llama.cpp
constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;

std::int64_t rounded_up(std::int64_t tokens) {
  return (tokens + kCells - 1) / kCells * kCells;
}

std::int32_t narrow(std::int64_t value, std::int64_t most) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 1, most));
}

std::int32_t default_threads() {
  return std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()) - 1);
}

// Every running sequence takes a row of a step.
std::int64_t usual_sequences(const LlamaOptions& o) {
  return std::clamp<std::int64_t>(o.max_step_tokens.value(), 1, kUsualSequences);
}

void size_pool(const LlamaOptions& o, const ModelNeeds& model, Sizes& s) {
  s.max_sequences =
      narrow(o.max_sequences > 0 ? o.max_sequences : usual_sequences(o), kLlamaSequences);
  const std::int64_t affordable =
      std::clamp(kUsualBytes / model.kv_bytes_per_token, 4 * kCells, kUsualPool);
  s.kv_tokens =
      narrow(rounded_up(o.kv_tokens.value() > 0 ? o.kv_tokens.value() : affordable), kMostTokens);
  const std::int64_t context =
      o.max_context.value() > 0 ? o.max_context.value() : model.trained_context;
  s.max_context = narrow(context, s.kv_tokens);
  s.cached_tokens = static_cast<std::int32_t>(
      o.cached_tokens.value() < 0 ? s.kv_tokens
                                  : std::min<std::int64_t>(o.cached_tokens.value(), s.kv_tokens));
  s.retained = static_cast<std::int32_t>(
      std::min<std::int64_t>(s.max_sequences, kLlamaSequences - s.max_sequences));
}

std::int64_t usual_shares(const LlamaOptions& o, const ModelNeeds& model) {
  if (o.kv_tokens.value() > 0) return o.kv_tokens.value();
  return std::max(kCells, kUsualBytes / model.kv_bytes_per_token * 4 / 5);
}

// Cells of all shares together, before they are cut to what one sequence can use.
std::int64_t memory_for_shares(const LlamaOptions& o, const ModelNeeds& model,
                               std::int64_t context) {
  const bool given = o.max_sequences > 0 && o.max_context.value() > 0 && o.kv_tokens.value() == 0;
  return given ? o.max_sequences * context : usual_shares(o, model);
}

units::Result<void> size_shares(const LlamaOptions& o, const ModelNeeds& model, Sizes& s) {
  const std::int64_t asked = o.max_context.value();
  const std::int64_t wanted =
      rounded_up(asked > 0 ? asked : std::min(model.trained_context, kUsualContext));
  const std::int64_t memory = memory_for_shares(o, model, wanted);
  s.max_sequences = o.max_sequences > 0 ? narrow(o.max_sequences, kLlamaSequences)
                                        : narrow(memory / wanted, usual_sequences(o));
  const std::int64_t most =
      o.kv_tokens.value() > 0 && asked == 0 ? rounded_up(model.trained_context) : wanted;
  const std::int64_t share = std::min(most, memory / s.max_sequences / kCells * kCells);
  const std::string sequences = std::to_string(s.max_sequences) + " sequences";
  if (share < kCells) {
    return units::error("kv_tokens", "leaves less than 256 tokens for each of " + sequences +
                                         "; it takes at least " +
                                         std::to_string(s.max_sequences * kCells));
  }
  if (share < asked) {
    return units::error("kv_tokens", "leaves " + std::to_string(share) + " tokens for each of " +
                                         sequences + ", fewer than max_context; it takes " +
                                         std::to_string(s.max_sequences * rounded_up(asked)));
  }
  s.kv_tokens = narrow(share * s.max_sequences, kMostTokens);
  s.max_context = narrow(asked > 0 ? asked : model.trained_context, share);
  s.cached_tokens = static_cast<std::int32_t>(o.cached_tokens.value() < 0
                                                  ? s.kv_tokens / 4
                                                  : std::min(o.cached_tokens.value(), kMostTokens));
  if (model.sliding_window) s.cached_tokens = 0;
  s.retained = s.cached_tokens > 0 ? static_cast<std::int32_t>(kCachedPrompts) : 0;
  return {};
}

// The kind of memory, where it is left open (sizes.h), and with shares the context of each.
LlamaOptions with_kind(const LlamaOptions& given, const ModelNeeds& model) {
  LlamaOptions o = given;
  if (o.kv_unified) return o;
  Sizes pool;
  size_pool(o, model, pool);
  const std::int64_t sequences = o.max_sequences > 0 ? o.max_sequences : kEnoughSequences;
  o.kv_unified =
      model.sliding_window || rounded_up(pool.max_context) * sequences > usual_shares(o, model);
  if (!*o.kv_unified) o.max_context = units::Tokens(pool.max_context);
  return o;
}

}  // namespace

units::Result<Sizes> choose_sizes(const LlamaOptions& options, const ModelNeeds& model) {
  const LlamaOptions o = with_kind(options, model);
  Sizes s;
  s.threads = o.threads > 0 ? o.threads : default_threads();
  s.kv_unified = *o.kv_unified;
  s.sliding_window = model.sliding_window;
  s.block_tokens = narrow(o.block_tokens.value(), kCells);
  if (s.kv_unified) {
    size_pool(o, model, s);
  } else if (units::Result<void> sized = size_shares(o, model, s); !sized) {
    return tl::unexpected(sized.error());
  }
  s.max_step_tokens = narrow(o.max_step_tokens.value(), s.kv_tokens);
  if (s.max_step_tokens < s.max_sequences) {
    return units::error("max_step_tokens", "must be at least max_sequences (" +
                                               std::to_string(s.max_sequences) +
                                               "), so that every sequence can take a step");
  }
  return s;
}

Retention retention(const Sizes& sizes) {
  // In one pool copies share the cells of what they have in common, and sequences push them out.
  const bool whole_pool = sizes.kv_unified && sizes.cached_tokens == sizes.kv_tokens;
  if (whole_pool) return {sizes.retained, units::Blocks::max()};
  return {sizes.retained, units::Blocks(sizes.cached_tokens / sizes.block_tokens)};
}

}  // namespace tidegate::engines::llama
