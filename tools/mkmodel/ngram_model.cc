#include "mkmodel/ngram_model.h"

#include <cmath>
#include <vector>

#include "mkmodel/byte_pairs.h"
#include "mkmodel/gguf_file.h"

namespace tidegate::mkmodel {
namespace {

constexpr std::size_t kVocabulary = 512;
// Counts as if every pair had been seen this often: nothing is impossible, little is likely.
constexpr double kSmoothing = 0.0005;

constexpr std::string_view kBuiltin = R"(Tidegate lets requests in like a harbor gate lets in boats.
Tidegate decides when a request runs, and says so early when it cannot run in time.
A request waits outside the engine until there is room for its memory and its time.
A request that cannot keep its promise is refused with a reason and a time to come back.
Each step of the engine computes the next token of every running request.
Long prompts are computed in chunks, so that running answers do not stutter.
A long prompt waits for short ones only as long as its own deadline allows.
The memory of the engine is counted in blocks, and each block has an owner.
When a request ends, its blocks are free again within one step.
Prompts that begin alike share the blocks of their common prefix.
The gate looks at the memory, the time and the share of each tenant.
Every tenant gets its fair share of the engine when the engine is full.
The first token comes in time, and the next tokens come at a steady pace.
An early no is better than a late yes.
The time of a step is measured, and the law of the step is learned while it runs.
I am a small model made of pairs of tokens, so do not expect sense from me.
I count which token follows which token, and that is all I know.
Give me a larger model with the model option, and the same gate will serve it.
)";

std::vector<std::vector<double>> count_pairs(const EncodedCorpus& corpus) {
  std::vector<std::vector<double>> counts(kVocabulary, std::vector<double>(kVocabulary, 0));
  for (const auto& line : corpus.lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) counts[line[i]][line[i + 1]] += 1;
  }
  return counts;
}

// Row j, column i: log P(j | i), divided by what the final norm makes of a unit vector.
std::vector<float> output_matrix(const EncodedCorpus& corpus) {
  const auto counts = count_pairs(corpus);
  const double norm = std::sqrt(static_cast<double>(kVocabulary));
  std::vector<float> output(kVocabulary * kVocabulary);
  for (std::size_t before = 0; before < kVocabulary; ++before) {
    double sum = 0;
    for (const double count : counts[before]) sum += count + kSmoothing;
    for (std::size_t after = 0; after < kVocabulary; ++after) {
      const double p = (counts[before][after] + kSmoothing) / sum;
      output[after * kVocabulary + before] = static_cast<float>(std::log(p) / norm);
    }
  }
  return output;
}

std::vector<float> identity() {
  std::vector<float> matrix(kVocabulary * kVocabulary, 0.0F);
  for (std::size_t i = 0; i < kVocabulary; ++i) matrix[i * kVocabulary + i] = 1.0F;
  return matrix;
}

void add_empty_block(GgufFile& file, const Shape& s) {
  const std::int64_t kv_width = std::int64_t{s.width} / s.heads * s.kv_heads;
  const auto add = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    file.add(std::string("blk.0.") + name, GGML_TYPE_F16, columns,
             std::vector<float>(static_cast<std::size_t>(rows * columns), 0.0F));
  };
  const std::vector<float> ones(static_cast<std::size_t>(s.width), 1.0F);
  file.add("blk.0.attn_norm.weight", GGML_TYPE_F32, s.width, ones);
  file.add("blk.0.ffn_norm.weight", GGML_TYPE_F32, s.width, ones);
  add("attn_q.weight", s.width, s.width);
  add("attn_k.weight", kv_width, s.width);
  add("attn_v.weight", kv_width, s.width);
  add("attn_output.weight", s.width, s.width);
  add("ffn_gate.weight", s.feed_forward, s.width);
  add("ffn_up.weight", s.feed_forward, s.width);
  add("ffn_down.weight", s.width, s.feed_forward);
}

// Tokens that no text uses, up to the width that the network needs.
void pad(Vocabulary& vocabulary) {
  while (vocabulary.tokens.size() < kVocabulary) {
    vocabulary.tokens.push_back("<unused" + std::to_string(vocabulary.tokens.size()) + ">");
  }
}

}  // namespace

std::string_view builtin_corpus() {
  return kBuiltin;
}

units::Result<void> write_ngram_model(std::string_view corpus, const std::string& out) {
  EncodedCorpus learned = learn_byte_pairs(corpus, kVocabulary);
  if (learned.lines.empty()) {
    return units::error("--corpus", "has no line of printable ASCII; give one utterance a line");
  }
  pad(learned.vocabulary);
  const auto width = static_cast<std::int32_t>(kVocabulary);
  const Shape shape{.layers = 1, .width = width, .heads = 8, .kv_heads = 1, .feed_forward = 32};
  GgufFile file("tidegate-bigram", shape, learned.vocabulary);
  file.add("token_embd.weight", GGML_TYPE_F16, width, identity());
  add_empty_block(file, shape);
  file.add("output_norm.weight", GGML_TYPE_F32, width, std::vector<float>(kVocabulary, 1.0F));
  file.add("output.weight", GGML_TYPE_F16, width, output_matrix(learned));
  return file.write(out);
}

}  // namespace tidegate::mkmodel
