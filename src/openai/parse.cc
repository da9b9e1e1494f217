#include "openai/parse.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <string>
#include <utility>

#include "openai/draft.h"
#include "openai/json_reader.h"

namespace tidegate::openai {

namespace {

using json::Checked;
using json::Value;

constexpr std::size_t kMaxFields = 64;
using FieldLists = std::array<std::span<const Field>, 2>;

// The field of that name and its number over all lists; null when it is none of ours.
std::pair<const Field*, std::size_t> find(const FieldLists& lists, std::string_view name) {
  std::size_t number = 0;
  for (const auto list : lists) {
    for (const Field& field : list) {
      if (field.name == name) return {&field, number};
      ++number;
    }
  }
  return {nullptr, number};
}

Checked read_object(simdjson::ondemand::object& object, const FieldLists& lists, Draft& draft) {
  std::bitset<kMaxFields> seen;
  return json::each_field_of(object, [&](std::string_view key, Value& value) -> Checked {
    const auto [field, number] = find(lists, key);
    if (field == nullptr) return json::check_json(value, draft.limits.depth - 1);
    if (seen.test(number)) return units::error(std::string(field->name), "must be given once");
    seen.set(number);
    if (json::is_null(value)) return {};
    return field->read(value, field->name, draft);
  });
}

Checked read_body(std::string_view body, const FieldLists& lists, Draft& draft) {
  const simdjson::padded_string padded(body);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (const auto code = parser.iterate(padded).get(document)) {
    return tl::unexpected(json::body_error(code));
  }
  simdjson::ondemand::object object;
  if (const auto code = document.get_object().get(object)) {
    return tl::unexpected(json::body_error(code));
  }
  Checked read = read_object(object, lists, draft);
  if (!read) return read;
  // Nothing may follow the object: the end of the document is "out of bounds" here.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return tl::unexpected(json::body_error(simdjson::TAPE_ERROR));
  }
  if (draft.generation.model.empty()) return units::error("model", "must name a model");
  return {};
}

// Settles what depends on more than one field.
Checked settle_generation(Draft& draft) {
  Generation& generation = draft.generation;
  if (draft.max_completion_tokens) {
    generation.max_tokens = std::min(*draft.max_completion_tokens,
                                     generation.max_tokens.value_or(*draft.max_completion_tokens));
  }
  if (draft.has_stream_options && !generation.stream) {
    return units::error("stream_options", "must be left out unless stream is true");
  }
  if (draft.top_logprobs && !draft.wants_logprobs) {
    return units::error("top_logprobs", "must be left out unless logprobs is true");
  }
  if (draft.wants_logprobs) generation.logprobs = draft.top_logprobs.value_or(0);
  return {};
}

Checked settle_prompts(const Draft& draft, std::string_view where) {
  if (draft.prompts.empty()) return units::error(std::string(where), "must be given, not empty");
  const std::size_t sequences = draft.prompts.size() * static_cast<std::size_t>(draft.generation.n);
  if (sequences > draft.limits.prompts) {
    return units::error(std::string(where), "must not give more than " +
                                                std::to_string(draft.limits.prompts) +
                                                " choices in all, n times prompts");
  }
  return {};
}

}  // namespace

units::Result<ChatRequest> parse_chat(std::string_view body, const ParseLimits& limits) {
  Draft draft(limits);
  Checked read = read_body(body, {generation_fields(), chat_fields()}, draft);
  if (read) read = settle_generation(draft);
  if (!read) return tl::unexpected(std::move(read.error()));
  if (draft.messages.empty()) return units::error("messages", "must have at least one message");
  ChatRequest request;
  request.generation = std::move(draft.generation);
  request.messages = std::move(draft.messages);
  return request;
}

units::Result<CompletionRequest> parse_completion(std::string_view body,
                                                  const ParseLimits& limits) {
  Draft draft(limits);
  Checked read = read_body(body, {generation_fields(), completion_fields()}, draft);
  if (read) read = settle_generation(draft);
  if (read) read = settle_prompts(draft, "prompt");
  if (!read) return tl::unexpected(std::move(read.error()));
  if (draft.best_of && *draft.best_of != draft.generation.n) {
    return units::error("best_of", "must equal n; choosing among more is not supported");
  }
  CompletionRequest request;
  request.generation = std::move(draft.generation);
  request.prompts = std::move(draft.prompts);
  return request;
}

units::Result<EmbeddingsRequest> parse_embeddings(std::string_view body,
                                                  const ParseLimits& limits) {
  Draft draft(limits);
  Checked read = read_body(body, {embeddings_fields(), {}}, draft);
  if (read) read = settle_prompts(draft, "input");
  if (!read) return tl::unexpected(std::move(read.error()));
  EmbeddingsRequest request;
  request.model = std::move(draft.generation.model);
  request.inputs = std::move(draft.prompts);
  request.encoding = draft.encoding;
  request.dimensions = draft.dimensions;
  request.user = std::move(draft.generation.user);
  return request;
}

}  // namespace tidegate::openai
