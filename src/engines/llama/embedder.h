// Turns a text's tokens into one vector, in a small context of its own that is made when it is
// first needed. Models made for embeddings pool as they were trained to; of a generating model the
// last layer is averaged over the text. One owner, on the engine's thread, which it holds for the
// whole text: no step of the engine runs meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/llama/handles.h"
#include "engines/tokenizer.h"
#include "units/result.h"

namespace tidegate::engines::llama {

class Embedder {
 public:
  // REQUIRES: `model` outlives this.
  Embedder(llama_model* model, std::int32_t threads, bool generates);

  // A vector of Euclidean length 1. Error: no tokens, more than the model's context or 2048, a
  // token outside the vocabulary, a model that only ranks, or no memory for the context.
  units::Result<std::vector<float>> embed(std::vector<Token> tokens);

 private:
  units::Result<void> open();

  llama_model* model_;
  std::int32_t threads_;
  bool generates_;
  ContextHandle context_;
};

}  // namespace tidegate::engines::llama
