#include "engines/llama/embedder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace tidegate::engines::llama {
namespace {

constexpr std::int32_t kMostTokens = 2048;

ContextHandle make_context(llama_model* model, std::int32_t threads,
                           enum llama_pooling_type pooling) {
  llama_context_params params = llama_context_default_params();
  const std::int32_t size = std::min(kMostTokens, std::max(1, llama_model_n_ctx_train(model)));
  params.n_ctx = static_cast<std::uint32_t>(size);
  // Pooling sees one physical batch only, so the whole text has to be in it.
  params.n_batch = params.n_ctx;
  params.n_ubatch = params.n_ctx;
  params.n_seq_max = 1;
  params.n_threads = threads;
  params.n_threads_batch = threads;
  params.embeddings = true;
  params.pooling_type = pooling;
  params.no_perf = true;
  return ContextHandle(llama_init_from_model(model, params));
}

std::vector<float> normalised(std::span<const float> v) {
  double square = 0;
  for (const float x : v) square += static_cast<double>(x) * static_cast<double>(x);
  const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
  std::vector<float> unit;
  unit.reserve(v.size());
  for (const float x : v) unit.push_back(static_cast<float>(static_cast<double>(x) * scale));
  return unit;
}

}  // namespace

Embedder::Embedder(llama_model* model, std::int32_t threads, bool generates)
    : model_(model), threads_(threads), generates_(generates) {}

units::Result<void> Embedder::open() {
  if (context_) return {};
  ContextHandle context = make_context(
      model_, threads_, generates_ ? LLAMA_POOLING_TYPE_MEAN : LLAMA_POOLING_TYPE_UNSPECIFIED);
  if (context && llama_pooling_type(context.get()) == LLAMA_POOLING_TYPE_NONE) {
    context = make_context(model_, threads_, LLAMA_POOLING_TYPE_MEAN);
  }
  if (!context) return units::error("model", "has no memory left for a context for embeddings");
  if (llama_pooling_type(context.get()) == LLAMA_POOLING_TYPE_RANK) {
    return units::error("model", "ranks texts and gives no embeddings; name an embedding model");
  }
  context_ = std::move(context);
  return {};
}

units::Result<std::vector<float>> Embedder::embed(std::vector<Token> tokens) {
  if (units::Result<void> opened = open(); !opened) return tl::unexpected(opened.error());
  const auto most = static_cast<std::size_t>(llama_n_batch(context_.get()));
  if (tokens.empty()) return units::error("input", "is empty; give at least one token");
  if (tokens.size() > most) {
    return units::error("input", "has " + std::to_string(tokens.size()) +
                                     " tokens; this model embeds at most " + std::to_string(most));
  }
  const std::int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model_));
  const auto outside = [vocabulary](Token t) { return t < 0 || t >= vocabulary; };
  if (std::any_of(tokens.begin(), tokens.end(), outside)) {
    return units::error("input", "has a token outside the vocabulary");
  }
  if (llama_memory_t memory = llama_get_memory(context_.get()); memory != nullptr) {
    llama_memory_clear(memory, false);
  }
  const auto count = static_cast<std::int32_t>(tokens.size());
  const llama_batch batch = llama_batch_get_one(tokens.data(), count);
  const float* vector = nullptr;
  if (llama_decode(context_.get(), batch) == 0) {
    vector = llama_get_embeddings_seq(context_.get(), 0);
  }
  if (vector == nullptr) return units::error("model", "could not compute the embedding");
  return normalised({vector, static_cast<std::size_t>(llama_model_n_embd_out(model_))});
}

}  // namespace tidegate::engines::llama
