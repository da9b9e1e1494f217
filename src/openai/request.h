// Requests of the OpenAI API as validated plain values: what a body said, with every number in
// range and every choice that we do not support already refused. Nothing here refers to the bytes
// it came from. Plain values, safe to share once built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidegate::openai {

using Token = std::int32_t;

struct LogitBias {
  Token token = 0;
  float bias = 0;  // -100 to 100

  friend bool operator==(const LogitBias&, const LogitBias&) = default;
};

// How tokens are drawn; the defaults are the API's, and mean "off" for those it does not know.
struct Sampling {
  float temperature = 1;        // 0 to 2; 0: always the likeliest token
  float top_p = 1;              // (0, 1]
  std::int32_t top_k = 0;       // 0: off
  float min_p = 0;              // [0, 1]
  float repeat_penalty = 1;     // (0, 2]; `repetition_penalty` or `repeat_penalty`
  float presence_penalty = 0;   // -2 to 2
  float frequency_penalty = 0;  // -2 to 2
  std::optional<std::int64_t> seed;
  std::vector<LogitBias> logit_bias;  // distinct tokens, in the order given

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// What chat and text completions have in common.
struct Generation {
  std::string model;  // not empty
  Sampling sampling;
  // max_tokens and max_completion_tokens; the smaller where both are given. At least 1.
  std::optional<std::int64_t> max_tokens;
  std::int32_t n = 1;
  std::vector<std::string> stop;  // none of them empty
  // -1: none asked for; k >= 0: of each token, and of the k likeliest beside it.
  std::int32_t logprobs = -1;
  bool stream = false;
  bool include_usage = false;  // stream_options.include_usage; only with stream
  std::string user;
  std::optional<std::int32_t> priority;  // as sent; what it means is the gateway's to say
};

enum class Role : std::uint8_t { kSystem, kDeveloper, kUser, kAssistant };
std::string_view name(Role role);

struct ChatMessage {
  Role role = Role::kUser;
  std::string content;  // text parts of one message joined, valid UTF-8
};

struct ChatRequest {
  Generation generation;
  std::vector<ChatMessage> messages;  // not empty
};

// Text, or tokens of the model's vocabulary (checked >= 0 only; the vocabulary is not known here).
using Prompt = std::variant<std::string, std::vector<Token>>;

struct CompletionRequest {
  Generation generation;
  std::vector<Prompt> prompts;  // not empty, none of them empty; each gives n choices
};

enum class EncodingFormat : std::uint8_t { kFloat, kBase64 };

struct EmbeddingsRequest {
  std::string model;
  std::vector<Prompt> inputs;  // not empty, none of them empty
  EncodingFormat encoding = EncodingFormat::kFloat;
  std::optional<std::int32_t> dimensions;
  std::string user;
};

}  // namespace tidegate::openai
