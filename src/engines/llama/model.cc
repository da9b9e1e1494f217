#include "engines/llama/model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace tidegate::engines::llama {
namespace {

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

ModelNeeds needs_of(const LoadedModel& model) {
  return {.kv_bytes_per_token = kv_bytes_per_token(model.handle.get()),
          .trained_context = std::max(1, llama_model_n_ctx_train(model.handle.get())),
          .sliding_window = llama_model_n_swa(model.handle.get()) > 0};
}

units::Result<ContextHandle> make_context(const LoadedModel& model, const Sizes& s) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(s.kv_tokens);
  params.n_batch = static_cast<std::uint32_t>(s.max_step_tokens);
  params.n_ubatch = params.n_batch;  // one pass over the weights for a step, whatever is in it
  params.n_seq_max = static_cast<std::uint32_t>(s.max_sequences + (s.kv_unified ? s.retained : 0));
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
