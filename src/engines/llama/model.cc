#include "engines/llama/model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace tidegate::engines::llama {
namespace {

constexpr std::int32_t kLlamaSequences = 256;  // LLAMA_MAX_SEQ of llama.cpp v0.4.0
constexpr std::int32_t kDefaultKvTokens = 16384;
constexpr std::int64_t kDefaultKvBytes = std::int64_t{2} << 30;
constexpr std::int32_t kPadding = 256;  // llama.cpp rounds a context up to this many cells

std::string meta(const llama_model* model, const std::string& key) {
  std::array<char, 256> buffer{};
  const auto length = llama_model_meta_val_str(model, key.c_str(), buffer.data(), buffer.size());
  return length < 0 ? std::string() : std::string(buffer.data());
}

ModelInfo describe(const llama_model* model) {
  std::array<char, 256> description{};
  llama_model_desc(model, description.data(), description.size());
  const std::string causal = meta(model, meta(model, "general.architecture") + ".attention.causal");
  ModelInfo info;
  info.name = meta(model, "general.name");
  info.description = description.data();
  info.parameters = static_cast<std::int64_t>(llama_model_n_params(model));
  info.weights = units::Bytes(static_cast<std::int64_t>(llama_model_size(model)));
  info.trained_context = units::Tokens(llama_model_n_ctx_train(model));
  info.vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  info.embedding_width = llama_model_n_embd_out(model);
  info.generates = llama_model_has_decoder(model) && causal != "false";
  return info;
}

bool is_gguf(const std::string& path) {
  std::array<char, 4> magic{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  return file && std::fread(magic.data(), 1, 4, file.get()) == 4 &&
         std::string_view(magic.data(), 4) == "GGUF";
}

// Bytes of keys and values that one token adds, both in 16 bits.
std::int64_t kv_bytes_per_token(const llama_model* model) {
  const std::int64_t heads = std::max(1, llama_model_n_head(model));
  const std::int64_t width =
      std::int64_t{llama_model_n_embd(model)} / heads * std::max(1, llama_model_n_head_kv(model));
  return std::max<std::int64_t>(1, std::int64_t{4} * llama_model_n_layer(model) * width);
}

std::int32_t default_threads() {
  return std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()) - 1);
}

std::int64_t default_kv_tokens(const LoadedModel& model) {
  const std::int64_t affordable = kDefaultKvBytes / kv_bytes_per_token(model.handle.get());
  return std::clamp<std::int64_t>(affordable, std::int64_t{4} * kPadding, kDefaultKvTokens);
}

std::int32_t narrow(std::int64_t value, std::int64_t most) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 1, most));
}

}  // namespace

units::Result<LoadedModel> load_model(const LlamaOptions& options) {
  if (!is_gguf(options.path)) {
    return units::error(options.path, "is not a readable GGUF file");
  }
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  ModelHandle handle(llama_model_load_from_file(options.path.c_str(), params));
  if (!handle) {
    return units::error(options.path,
                        "cannot be loaded: damaged, of an architecture that llama.cpp " +
                            std::string(version()) + " does not know, or too large for memory");
  }
  if (llama_model_is_recurrent(handle.get()) || llama_model_is_hybrid(handle.get()) ||
      llama_model_is_diffusion(handle.get()) || llama_model_has_encoder(handle.get())) {
    return units::error(options.path,
                        "is not a plain transformer decoder or embedding model; recurrent, hybrid, "
                        "diffusion and encoder-decoder models cannot share steps here");
  }
  ModelInfo info = describe(handle.get());
  return LoadedModel{std::move(handle), std::move(info)};
}

units::Result<Sizes> choose_sizes(const LlamaOptions& o, const LoadedModel& model) {
  Sizes s;
  s.threads = o.threads > 0 ? o.threads : default_threads();
  s.kv_unified = o.kv_unified;
  s.block_tokens = narrow(o.block_tokens.value(), kPadding);
  s.max_sequences = narrow(o.max_sequences, kLlamaSequences);
  s.retained = o.kv_unified ? std::min(s.max_sequences, kLlamaSequences - s.max_sequences) : 0;
  const std::int64_t asked =
      o.kv_tokens.value() > 0 ? o.kv_tokens.value() : default_kv_tokens(model);
  s.kv_tokens = narrow((asked + kPadding - 1) / kPadding * kPadding, std::int64_t{1} << 30);
  const std::int64_t trained = std::max<std::int64_t>(1, model.info.trained_context.value());
  const std::int64_t context = o.max_context.value() > 0 ? o.max_context.value() : trained;
  const std::int32_t share = s.kv_unified ? s.kv_tokens : s.kv_tokens / s.max_sequences;
  s.max_context = narrow(context, share);
  s.max_step_tokens = narrow(o.max_step_tokens.value(), s.kv_tokens);
  if (share < kPadding) {
    return units::error("kv_tokens", "leaves " + std::to_string(share) +
                                         " tokens for a sequence; it takes at least 256 each");
  }
  if (s.max_step_tokens < s.max_sequences) {
    return units::error("max_step_tokens", "must be at least max_sequences (" +
                                               std::to_string(s.max_sequences) +
                                               "), so that every sequence can take a step");
  }
  return s;
}

units::Result<ContextHandle> make_context(const LoadedModel& model, const Sizes& s) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(s.kv_tokens);
  params.n_batch = static_cast<std::uint32_t>(s.max_step_tokens);
  params.n_ubatch = params.n_batch;  // one pass over the weights for a step, whatever is in it
  params.n_seq_max = static_cast<std::uint32_t>(s.max_sequences + s.retained);
  params.n_outputs_max = params.n_seq_max;  // keeps the buffer for logits small
  params.n_threads = s.threads;
  params.n_threads_batch = s.threads;
  params.kv_unified = s.kv_unified;
  params.no_perf = true;
  ContextHandle context(llama_init_from_model(model.handle.get(), params));
  if (!context) {
    return units::error("kv_tokens", "a context of " + std::to_string(s.kv_tokens) +
                                         " tokens does not fit into memory; lower it");
  }
  return context;
}

}  // namespace tidegate::engines::llama
