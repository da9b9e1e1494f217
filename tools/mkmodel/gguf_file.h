// A GGUF model file in the making: keys, a byte-level vocabulary and tensors, written in one go.
// The shape is always llama's. One owner.
#pragma once

#include <ggml.h>
#include <gguf.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "units/result.h"

namespace tidegate::mkmodel {

// Sizes of a llama-architecture network. Every width is a multiple of 32, a block of the quantised
// types.
struct Shape {
  std::int32_t layers = 1;
  std::int32_t width = 0;
  std::int32_t heads = 1;
  std::int32_t kv_heads = 1;
  std::int32_t feed_forward = 32;
  std::int32_t context = 8192;
};

// Token i of a byte-level (GPT-2 style) vocabulary has the text tokens[i]; token 0 ends the text.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<std::string> merges;  // "left right", most frequent first
};

// The text by which GPT-2's byte-level vocabularies write a printable ASCII character, a space or a
// line end.
std::string byte_text(char c);

class GgufFile {
 public:
  GgufFile(const std::string& name, const Shape& shape, const Vocabulary& vocabulary);

  // A matrix of `rows` rows of `columns` values, or a vector when rows is 1, stored as `type`.
  // REQUIRES: values.size() == rows * columns; columns is a multiple of the type's block.
  void add(const std::string& name, ggml_type type, std::int64_t columns,
           const std::vector<float>& values);

  units::Result<void> write(const std::string& path) const;

 private:
  struct Free {
    void operator()(gguf_context* file) const { gguf_free(file); }
    void operator()(ggml_context* tensors) const { ggml_free(tensors); }
  };
  void set_strings(const char* key, const std::vector<std::string>& values);

  std::unique_ptr<gguf_context, Free> file_;
  std::unique_ptr<ggml_context, Free> tensors_;
  std::deque<std::vector<std::uint8_t>> data_;  // what the tensors point to
};

}  // namespace tidegate::mkmodel
