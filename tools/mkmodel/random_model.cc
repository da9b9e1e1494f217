#include "mkmodel/random_model.h"

#include <cmath>
#include <optional>
#include <vector>

#include "mkmodel/gguf_file.h"
#include "units/prng.h"

namespace tidegate::mkmodel {
namespace {

std::optional<Shape> shape_named(const std::string& name) {
  if (name == "15M") {
    return Shape{.layers = 8, .width = 384, .heads = 6, .kv_heads = 6, .feed_forward = 1024};
  }
  if (name == "100M") {
    return Shape{.layers = 14, .width = 768, .heads = 12, .kv_heads = 12, .feed_forward = 2048};
  }
  return std::nullopt;
}

std::optional<ggml_type> type_named(const std::string& name) {
  if (name == "f32") return GGML_TYPE_F32;
  if (name == "f16") return GGML_TYPE_F16;
  if (name == "q8_0") return GGML_TYPE_Q8_0;
  if (name == "q4_0") return GGML_TYPE_Q4_0;
  return std::nullopt;
}

Vocabulary printable_ascii() {
  Vocabulary vocabulary;
  vocabulary.tokens = {"<|endoftext|>", byte_text('\n')};
  for (char c = ' '; c <= '~'; ++c) vocabulary.tokens.push_back(byte_text(c));
  return vocabulary;
}

// Roughly normal values with mean 0: the sum of four uniform ones (Irwin-Hall), from integers only,
// so that every compiler gives the same bytes.
class Weights {
 public:
  explicit Weights(std::uint64_t seed) : prng_(seed) {}

  std::vector<float> matrix(std::int64_t rows, std::int64_t columns, double deviation) {
    // Four uniform 16-bit numbers have the variance 4 * 2^32 / 12.
    const double scale = deviation / std::sqrt(4.0 * 4294967296.0 / 12.0);
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (float& value : values) {
      const std::uint64_t bits = prng_.next();
      const std::uint64_t sum =
          (bits & 0xFFFFU) + (bits >> 16U & 0xFFFFU) + (bits >> 32U & 0xFFFFU) + (bits >> 48U);
      value = static_cast<float>((static_cast<double>(sum) - 2.0 * 65535.0) * scale);
    }
    return values;
  }

 private:
  units::Prng prng_;
};

struct Layer {
  const Shape& shape;
  ggml_type type;
  std::int32_t number;
};

void add_layer(GgufFile& file, const Layer& layer, Weights& w) {
  const Shape& s = layer.shape;
  const std::string prefix = "blk." + std::to_string(layer.number) + ".";
  const std::int64_t kv_width = std::int64_t{s.width} / s.heads * s.kv_heads;
  const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    const double deviation = 1 / std::sqrt(static_cast<double>(columns));
    file.add(prefix + name, layer.type, columns, w.matrix(rows, columns, deviation));
  };
  const std::vector<float> ones(static_cast<std::size_t>(s.width), 1.0F);
  file.add(prefix + "attn_norm.weight", GGML_TYPE_F32, s.width, ones);
  add("attn_q.weight", s.width, s.width);
  add("attn_k.weight", kv_width, s.width);
  add("attn_v.weight", kv_width, s.width);
  add("attn_output.weight", s.width, s.width);
  file.add(prefix + "ffn_norm.weight", GGML_TYPE_F32, s.width, ones);
  add("ffn_gate.weight", s.feed_forward, s.width);
  add("ffn_up.weight", s.feed_forward, s.width);
  add("ffn_down.weight", s.width, s.feed_forward);
}

}  // namespace

units::Result<void> write_random_model(const RandomOptions& options) {
  const std::optional<Shape> shape = shape_named(options.shape);
  if (!shape) return units::error("--shape", options.shape + " is unknown; use 15M or 100M");
  const std::optional<ggml_type> type = type_named(options.type);
  if (!type)
    return units::error("--type", options.type + " is unknown; use q4_0, q8_0, f16 or f32");

  const Vocabulary vocabulary = printable_ascii();
  const auto tokens = static_cast<std::int64_t>(vocabulary.tokens.size());
  const std::int64_t width = shape->width;
  GgufFile file("random-" + options.shape, *shape, vocabulary);
  Weights weights(options.seed);
  file.add("token_embd.weight", *type, width, weights.matrix(tokens, width, 1));
  for (std::int32_t layer = 0; layer < shape->layers; ++layer) {
    add_layer(file, {*shape, *type, layer}, weights);
  }
  file.add("output_norm.weight", GGML_TYPE_F32, width,
           std::vector<float>(static_cast<std::size_t>(width), 1.0F));
  // Logits of deviation 3 make some tokens clearly likelier than others. The row of the end of text
  // is zero: among so many its logit of 0 is hardly ever drawn.
  std::vector<float> output =
      weights.matrix(tokens, width, 3 / std::sqrt(static_cast<double>(width)));
  std::fill(output.begin(), output.begin() + width, 0.0F);
  file.add("output.weight", *type, width, output);
  return file.write(options.out);
}

}  // namespace tidegate::mkmodel
