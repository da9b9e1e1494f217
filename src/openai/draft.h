// A request while its fields come in, in whatever order the body has them, and the table that says
// which field of which API is read how. Internal to this room. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "openai/json_reader.h"
#include "openai/parse.h"
#include "openai/request.h"

namespace tidegate::openai {

// The fields of all three APIs; what depends on two fields is settled when all have been read.
struct Draft {
  explicit Draft(const ParseLimits& given) : limits(given) {}

  const ParseLimits& limits;
  Generation generation;
  std::optional<std::int64_t> max_completion_tokens;
  bool wants_logprobs = false;
  std::optional<std::int32_t> top_logprobs;
  bool has_stream_options = false;
  std::optional<std::int64_t> best_of;
  std::vector<ChatMessage> messages;
  std::vector<Prompt> prompts;  // or embedding inputs
  EncodingFormat encoding = EncodingFormat::kFloat;
  std::optional<std::int32_t> dimensions;
};

struct Field {
  std::string_view name;
  // The value is not null; `where` is the name, or a path that ends in it.
  json::Checked (*read)(json::Value& value, std::string_view where, Draft& draft);
};

// Of chat and text completions alike; of chat alone; of text alone; of embeddings (which has no
// other). Each list is constant.
std::span<const Field> generation_fields();
std::span<const Field> chat_fields();
std::span<const Field> completion_fields();
std::span<const Field> embeddings_fields();

// `model` and `user`, which all APIs have.
json::Checked read_model(json::Value& value, std::string_view where, Draft& draft);
json::Checked read_user(json::Value& value, std::string_view where, Draft& draft);

// Refuses anything but an empty array.
json::Checked refuse_unless_empty(json::Value& value, std::string_view where, Draft& draft);

}  // namespace tidegate::openai
