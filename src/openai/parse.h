// Bytes to requests. Strict where a mistake would change what is done (types, ranges, duplicates,
// things we cannot do), indifferent to fields that we do not know: they are checked to be JSON and
// ignored, never passed on. Pure and thread-safe.
//
// Every Error names the field in `where` as the caller wrote it ("max_tokens",
// "messages[2].content"; empty: the body as a whole) and says in `message` what would be right. It
// never quotes more than a short number of the caller's own text.
//
// Defined corners: a field given twice is an error; null means not given; unknown fields may hold
// any JSON up to the depth cap; empty messages, an empty prompt and an empty stop string are
// errors; a lone surrogate or invalid UTF-8 anywhere is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "openai/request.h"
#include "units/result.h"

namespace tidegate::openai {

struct ParseLimits {
  std::int32_t depth = 64;  // nested arrays and objects, the body itself counted
  std::int64_t max_tokens = 1 << 30;
  std::int32_t n = 16;
  std::size_t stop_strings = 4;
  std::size_t stop_bytes = 1024;  // of one stop string
  std::int32_t top_logprobs = 20;
  std::size_t logit_bias_entries = 1024;
  std::size_t messages = 16'384;
  std::size_t prompts = 128;  // prompts times n, or embedding inputs
  std::size_t model_bytes = 256;
  std::size_t user_bytes = 512;
};

// Linear in the body.
units::Result<ChatRequest> parse_chat(std::string_view body, const ParseLimits& limits = {});
units::Result<CompletionRequest> parse_completion(std::string_view body,
                                                  const ParseLimits& limits = {});
units::Result<EmbeddingsRequest> parse_embeddings(std::string_view body,
                                                  const ParseLimits& limits = {});

}  // namespace tidegate::openai
