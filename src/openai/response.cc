#include "openai/response.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <string_view>
#include <utility>

#include "openai/base64.h"
#include "openai/utf8.h"

namespace tidegate::openai {

namespace json = boost::json;

namespace {

// What OpenAI writes for a token that is all but impossible.
constexpr double kImpossible = -9999.0;

double finite(float logprob) {
  return std::isfinite(logprob) ? static_cast<double>(logprob) : kImpossible;
}

std::string_view name(FinishReason reason) {
  return reason == FinishReason::kStop ? "stop" : "length";
}

json::value finish_value(const Choice& choice) {
  if (!choice.finish) return nullptr;
  return json::string(name(*choice.finish));
}

json::object usage_object(const domain::Usage& usage) {
  json::object object;
  object["prompt_tokens"] = usage.prompt.value();
  object["completion_tokens"] = usage.output.value();
  object["total_tokens"] = (usage.prompt + usage.output).value();
  json::object details;
  details["cached_tokens"] = usage.cached_prompt.value();
  object["prompt_tokens_details"] = std::move(details);
  return object;
}

json::object token_object(const Alternative& token) {
  json::object object;
  object["token"] = valid_utf8(token.bytes);
  object["logprob"] = finite(token.logprob);
  json::array bytes;
  for (const char byte : token.bytes) bytes.emplace_back(static_cast<unsigned char>(byte));
  object["bytes"] = std::move(bytes);
  return object;
}

json::value chat_logprobs(const Choice& choice) {
  if (!choice.with_logprobs) return nullptr;
  json::array content;
  for (const TokenLogprob& token : choice.logprobs) {
    json::object entry = token_object(token.chosen);
    json::array top;
    for (const Alternative& other : token.top) top.push_back(token_object(other));
    entry["top_logprobs"] = std::move(top);
    content.push_back(std::move(entry));
  }
  json::object object;
  object["content"] = std::move(content);
  object["refusal"] = nullptr;
  return object;
}

json::value text_logprobs(const Choice& choice) {
  if (!choice.with_logprobs) return nullptr;
  json::array tokens;
  json::array logprobs;
  json::array tops;
  json::array offsets;
  std::int64_t offset = choice.text_offset;
  for (const TokenLogprob& token : choice.logprobs) {
    const std::string text = valid_utf8(token.chosen.bytes);
    json::object top;
    for (const Alternative& other : token.top) top[valid_utf8(other.bytes)] = finite(other.logprob);
    tokens.emplace_back(json::string(text));
    logprobs.emplace_back(finite(token.chosen.logprob));
    tops.push_back(std::move(top));
    offsets.emplace_back(offset);
    offset += count_characters(text);
  }
  json::object object;
  object["tokens"] = std::move(tokens);
  object["token_logprobs"] = std::move(logprobs);
  object["top_logprobs"] = std::move(tops);
  object["text_offset"] = std::move(offsets);
  return object;
}

json::object envelope_object(std::string_view kind, const Envelope& envelope) {
  json::object object;
  object["id"] = envelope.id;
  object["object"] = json::string_view(kind);
  object["created"] = envelope.created_s;
  object["model"] = envelope.model;
  object["system_fingerprint"] = envelope.fingerprint;
  return object;
}

json::object text_choice(const Choice& choice) {
  json::object object;
  object["index"] = choice.index;
  object["text"] = choice.text;
  object["logprobs"] = text_logprobs(choice);
  object["finish_reason"] = finish_value(choice);
  return object;
}

json::object chat_choice(const Choice& choice) {
  json::object message;
  message["role"] = "assistant";
  message["content"] = choice.text;
  message["refusal"] = nullptr;
  json::object object;
  object["index"] = choice.index;
  object["message"] = std::move(message);
  object["logprobs"] = chat_logprobs(choice);
  object["finish_reason"] = finish_value(choice);
  return object;
}

json::object chat_delta(const Choice& choice) {
  json::object delta;
  if (!choice.text.empty() || !choice.finish) delta["content"] = choice.text;
  json::object object;
  object["index"] = choice.index;
  object["delta"] = std::move(delta);
  object["logprobs"] = chat_logprobs(choice);
  object["finish_reason"] = finish_value(choice);
  return object;
}

std::string chunk_of(Api api, const Envelope& envelope, json::array choices) {
  const std::string_view kind = api == Api::kChat ? "chat.completion.chunk" : "text_completion";
  json::object object = envelope_object(kind, envelope);
  object["choices"] = std::move(choices);
  if (envelope.include_usage) object["usage"] = nullptr;
  return json::serialize(object);
}

json::object model_entry(const ModelEntry& model) {
  json::object object;
  object["id"] = model.id;
  object["object"] = "model";
  object["created"] = model.created_s;
  object["owned_by"] = model.owned_by;
  return object;
}

json::value encoded(const std::vector<float>& vector, EncodingFormat encoding) {
  if (encoding == EncodingFormat::kBase64) return json::string(base64_of_floats(vector));
  json::array numbers;
  numbers.reserve(vector.size());
  for (const float number : vector) numbers.emplace_back(static_cast<double>(number));
  return numbers;
}

}  // namespace

std::string completion(Api api, const Envelope& envelope, std::span<const Choice> choices,
                       const domain::Usage& usage) {
  const bool chat = api == Api::kChat;
  json::object object = envelope_object(chat ? "chat.completion" : "text_completion", envelope);
  json::array array;
  for (const Choice& choice : choices) {
    array.push_back(chat ? chat_choice(choice) : text_choice(choice));
  }
  object["choices"] = std::move(array);
  object["usage"] = usage_object(usage);
  return json::serialize(object);
}

std::string role_chunk(const Envelope& envelope, std::int32_t index) {
  json::object delta;
  delta["role"] = "assistant";
  delta["content"] = "";
  delta["refusal"] = nullptr;
  json::object choice;
  choice["index"] = index;
  choice["delta"] = std::move(delta);
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = nullptr;
  json::array choices;
  choices.push_back(std::move(choice));
  return chunk_of(Api::kChat, envelope, std::move(choices));
}

std::string chunk(Api api, const Envelope& envelope, const Choice& choice) {
  json::array choices;
  choices.push_back(api == Api::kChat ? chat_delta(choice) : text_choice(choice));
  return chunk_of(api, envelope, std::move(choices));
}

std::string usage_chunk(Api api, const Envelope& envelope, const domain::Usage& usage) {
  const std::string_view kind = api == Api::kChat ? "chat.completion.chunk" : "text_completion";
  json::object object = envelope_object(kind, envelope);
  object["choices"] = json::array();
  object["usage"] = usage_object(usage);
  return json::serialize(object);
}

std::string embeddings(const EmbeddingsAnswer& answer) {
  json::array data;
  std::int64_t index = 0;
  for (const auto& vector : answer.vectors) {
    json::object entry;
    entry["object"] = "embedding";
    entry["index"] = index++;
    entry["embedding"] = encoded(vector, answer.encoding);
    data.push_back(std::move(entry));
  }
  json::object usage;
  usage["prompt_tokens"] = answer.prompt_tokens;
  usage["total_tokens"] = answer.prompt_tokens;
  json::object object;
  object["object"] = "list";
  object["data"] = std::move(data);
  object["model"] = answer.model;
  object["usage"] = std::move(usage);
  return json::serialize(object);
}

std::string model_list(std::span<const ModelEntry> models) {
  json::array data;
  for (const ModelEntry& model : models) data.push_back(model_entry(model));
  json::object object;
  object["object"] = "list";
  object["data"] = std::move(data);
  return json::serialize(object);
}

std::string model_object(const ModelEntry& model) {
  return json::serialize(model_entry(model));
}

}  // namespace tidegate::openai
