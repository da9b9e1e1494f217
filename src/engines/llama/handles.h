// Owning handles for the objects of llama.cpp's C API. Each frees its object; nothing else. A
// handle has one owner at a time.
#pragma once

#include <llama.h>

#include <memory>

namespace tidegate::engines::llama {

struct FreeModel {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};
struct FreeSampler {
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

using ModelHandle = std::unique_ptr<llama_model, FreeModel>;
using ContextHandle = std::unique_ptr<llama_context, FreeContext>;
using SamplerHandle = std::unique_ptr<llama_sampler, FreeSampler>;

}  // namespace tidegate::engines::llama
