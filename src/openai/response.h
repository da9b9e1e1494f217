// Answers to bytes: completions whole and in chunks, embeddings, the list of models. Numbers that
// JSON cannot hold (an infinite log probability) are written as -9999, as OpenAI does. Pure and
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/seam.h"
#include "openai/request.h"

namespace tidegate::openai {

// Which of the two completion APIs an answer belongs to.
enum class Api : std::uint8_t { kChat, kText };

enum class FinishReason : std::uint8_t { kStop, kLength };

struct Alternative {
  std::string bytes;  // may be part of a UTF-8 character: shown with U+FFFD, and whole in `bytes`
  float logprob = 0;
};

struct TokenLogprob {
  Alternative chosen;
  std::vector<Alternative> top;  // likeliest first
};

// What all parts of one answer repeat.
struct Envelope {
  std::string id;  // "chatcmpl-..." or "cmpl-..."
  std::string model;
  std::string fingerprint;
  std::int64_t created_s = 0;  // Unix time
  bool include_usage = false;  // chunks then carry "usage": null, as the API does
};

// One choice, whole or as the next piece of a stream.
struct Choice {
  std::int32_t index = 0;
  std::string text;  // valid UTF-8
  std::optional<FinishReason> finish;
  bool with_logprobs = false;
  std::vector<TokenLogprob> logprobs;
  std::int64_t text_offset = 0;  // of the first token, in characters; text API only
};

// The whole answer.
std::string completion(Api api, const Envelope& envelope, std::span<const Choice> choices,
                       const domain::Usage& usage);
// Chat only: the chunk that opens a choice with its role and no content.
std::string role_chunk(const Envelope& envelope, std::int32_t index);
// The next piece of a choice. When it carries the finish reason but no text, a chat delta is {}.
std::string chunk(Api api, const Envelope& envelope, const Choice& choice);
// The last chunk of a stream with include_usage: no choices, the usage of all of them.
std::string usage_chunk(Api api, const Envelope& envelope, const domain::Usage& usage);

struct EmbeddingsAnswer {
  std::string model;
  EncodingFormat encoding = EncodingFormat::kFloat;
  std::span<const std::vector<float>> vectors;
  std::int64_t prompt_tokens = 0;
};
// base64 is of the little-endian 32-bit floats.
std::string embeddings(const EmbeddingsAnswer& answer);

struct ModelEntry {
  std::string id;
  std::int64_t created_s = 0;
  std::string owned_by;
};
std::string model_list(std::span<const ModelEntry> models);
std::string model_object(const ModelEntry& model);

}  // namespace tidegate::openai
