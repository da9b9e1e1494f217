#include "engines/llama/try.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "units/check.h"

namespace tidegate::engines::llama {
namespace {

// Penalties look back on this many produced tokens at most; the memory is allocated per try.
constexpr std::int64_t kPenaltyMemory = 4096;

}  // namespace

Try::Try(const domain::Assign& assign, std::shared_ptr<const Generation> generation,
         std::int32_t vocabulary, std::uint32_t seed)
    : ref_(assign.ref),
      max_output_(assign.request.footprint.max_output.value()),
      generation_(std::move(generation)),
      sampler_(vocabulary, generation_->sampling, generation_->sampling.seed.value_or(seed),
               static_cast<std::int32_t>(std::clamp<std::int64_t>(max_output_, 1, kPenaltyMemory))),
      text_(generation_->stop),
      sequence_(generation_->prompt) {}

std::span<const Token> Try::tokens(std::int64_t from, std::int64_t count) const {
  TIDEGATE_CHECK(from >= 0 && count >= 0);
  TIDEGATE_CHECK(from + count <= static_cast<std::int64_t>(sequence_.size()));
  return std::span(sequence_).subspan(static_cast<std::size_t>(from),
                                      static_cast<std::size_t>(count));
}

Drawn Try::draw(llama_context* context, const LlamaTokenizer& tokenizer, std::int32_t output) {
  const Token token = sampler_.draw(context, output);
  sequence_.push_back(token);
  Drawn drawn;
  const bool end_of_text = tokenizer.ends_generation(token);
  if (!end_of_text) drawn.delta.text = text_.push(tokenizer.piece(token));
  drawn.ended = end_of_text || text_.stopped();
  if (generation_->logprobs >= 0 && !end_of_text) {
    add_logprobs(context, tokenizer, output, drawn.delta);
  }
  const auto produced = static_cast<std::int64_t>(sequence_.size() - generation_->prompt.size());
  if (drawn.ended || produced >= max_output_) {
    drawn.delta.text += text_.finish();
    drawn.delta.finish = drawn.ended ? FinishReason::kStop : FinishReason::kLength;
  }
  return drawn;
}

void Try::add_logprobs(llama_context* context, const LlamaTokenizer& tokenizer, std::int32_t output,
                       TextDelta& delta) const {
  const auto size = static_cast<std::size_t>(tokenizer.vocabulary());
  const std::span<const float> logits(llama_get_logits_ith(context, output), size);
  TokenLogprob entry = logprobs(logits, sequence_.back(), generation_->logprobs);
  entry.chosen.bytes = tokenizer.piece(entry.chosen.token);
  for (Alternative& other : entry.top) other.bytes = tokenizer.piece(other.token);
  delta.tokens.push_back(std::move(entry));
}

}  // namespace tidegate::engines::llama
