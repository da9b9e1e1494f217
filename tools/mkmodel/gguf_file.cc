#include "mkmodel/gguf_file.h"

#include "units/check.h"

namespace tidegate::mkmodel {
namespace {

constexpr std::size_t kMostTensors = 4096;
constexpr std::uint32_t kEndOfText = 0;

// Recognised by llama.cpp as ChatML. The markers are plain text here: one token a character.
constexpr const char* kChatTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";

void set_shape(gguf_context* file, const Shape& shape) {
  const auto set = [file](const char* key, std::int32_t value) {
    gguf_set_val_u32(file, key, static_cast<std::uint32_t>(value));
  };
  set("llama.context_length", shape.context);
  set("llama.embedding_length", shape.width);
  set("llama.block_count", shape.layers);
  set("llama.feed_forward_length", shape.feed_forward);
  set("llama.attention.head_count", shape.heads);
  set("llama.attention.head_count_kv", shape.kv_heads);
  set("llama.rope.dimension_count", shape.width / shape.heads);
  gguf_set_val_f32(file, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
}

}  // namespace

std::string byte_text(char c) {
  if (c == ' ') return "\xC4\xA0";
  if (c == '\n') return "\xC4\x8A";
  return {c};
}

GgufFile::GgufFile(const std::string& name, const Shape& shape, const Vocabulary& vocabulary)
    : file_(gguf_init_empty()),
      tensors_(ggml_init({kMostTensors * ggml_tensor_overhead(), nullptr, true})) {
  gguf_context* file = file_.get();
  gguf_set_val_str(file, "general.architecture", "llama");
  gguf_set_val_str(file, "general.name", name.c_str());
  set_shape(file, shape);
  gguf_set_val_u32(file, "llama.vocab_size", static_cast<std::uint32_t>(vocabulary.tokens.size()));
  gguf_set_val_str(file, "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(file, "tokenizer.ggml.pre", "gpt-2");
  set_strings("tokenizer.ggml.tokens", vocabulary.tokens);
  set_strings("tokenizer.ggml.merges", vocabulary.merges);
  constexpr std::int32_t kNormal = 1;
  constexpr std::int32_t kControl = 3;
  std::vector<std::int32_t> types(vocabulary.tokens.size(), kNormal);
  types[kEndOfText] = kControl;
  gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
  gguf_set_val_u32(file, "tokenizer.ggml.eos_token_id", kEndOfText);
  gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", false);
  gguf_set_val_str(file, "tokenizer.chat_template", kChatTemplate);
}

void GgufFile::set_strings(const char* key, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  gguf_set_arr_str(file_.get(), key, pointers.data(), pointers.size());
}

void GgufFile::add(const std::string& name, ggml_type type, std::int64_t columns,
                   const std::vector<float>& values) {
  const auto rows = static_cast<std::int64_t>(values.size()) / columns;
  TIDEGATE_CHECK(rows * columns == static_cast<std::int64_t>(values.size()));
  TIDEGATE_CHECK(columns % ggml_blck_size(type) == 0);
  ggml_tensor* tensor = rows == 1 ? ggml_new_tensor_1d(tensors_.get(), type, columns)
                                  : ggml_new_tensor_2d(tensors_.get(), type, columns, rows);
  ggml_set_name(tensor, name.c_str());
  std::vector<std::uint8_t>& data = data_.emplace_back(ggml_nbytes(tensor));
  ggml_quantize_chunk(type, values.data(), data.data(), 0, rows, columns, nullptr);
  tensor->data = data.data();
  gguf_add_tensor(file_.get(), tensor);
}

units::Result<void> GgufFile::write(const std::string& path) const {
  if (gguf_write_to_file(file_.get(), path.c_str(), false)) return {};
  return units::error(path, "cannot be written; name a file in a folder that exists");
}

}  // namespace tidegate::mkmodel
