// What the adapter keeps for one live try: its work, the state of its drawing, its text and the
// tokens it has produced. Survives preemption, so that a recomputed try goes on as if nothing had
// happened. One owner, on the engine's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "domain/seam.h"
#include "engines/engine.h"
#include "engines/llama/llama_tokenizer.h"
#include "engines/llama/sampler.h"
#include "engines/text_stream.h"
#include "units/quantity.h"

namespace tidegate::engines::llama {

// What drawing one token gave.
struct Drawn {
  TextDelta delta;
  bool ended = false;  // by end of text or a stop string; the output limit is not meant
};

class Try {
 public:
  // REQUIRES: generation has the prompt of assign's footprint; `seed` is used where it names none.
  Try(const domain::Assign& assign, std::shared_ptr<const Generation> generation,
      std::int32_t vocabulary, std::uint32_t seed);

  const domain::AttemptRef& ref() const { return ref_; }
  // Tokens [from, from + count) of prompt and output. REQUIRES: they exist.
  std::span<const Token> tokens(std::int64_t from, std::int64_t count) const;

  // Draws the next token from output `output` of the last step of `context`. Linear in the
  // vocabulary.
  Drawn draw(llama_context* context, const LlamaTokenizer& tokenizer, std::int32_t output);

 private:
  void add_logprobs(llama_context* context, const LlamaTokenizer& tokenizer, std::int32_t output,
                    TextDelta& delta) const;

  domain::AttemptRef ref_;
  std::int64_t max_output_;
  std::shared_ptr<const Generation> generation_;
  Sampler sampler_;
  TextStream text_;
  std::vector<Token> sequence_;  // prompt, then output
};

}  // namespace tidegate::engines::llama
