#include <array>
#include <limits>
#include <string>
#include <utility>

#include "openai/draft.h"

namespace tidegate::openai {

namespace {

using json::Checked;
using json::Value;

constexpr std::size_t kAnyLength = std::numeric_limits<std::size_t>::max();
// Of the values inside a message: body, messages and message are open around them.
constexpr std::int32_t kMessageDepth = 3;

std::string indexed(std::string_view where, std::size_t index) {
  return std::string(where) + "[" + std::to_string(index) + "]";
}

Checked read_role(Value& value, const std::string& where, ChatMessage& message) {
  auto text = json::read_string(value, where, 64);
  if (!text) return tl::unexpected(text.error());
  for (const Role role : {Role::kSystem, Role::kDeveloper, Role::kUser, Role::kAssistant}) {
    if (*text != name(role)) continue;
    message.role = role;
    return {};
  }
  return units::error(where, "must be system, developer, user or assistant");
}

// One text part; its type may come after its text.
units::Result<std::string> read_part(Value& value, const std::string& where, Draft& draft) {
  std::string type;
  std::optional<std::string> text;
  auto read = json::each_field(value, where, [&](std::string_view key, Value& field) -> Checked {
    if (key != "type" && key != "text") {
      return json::check_json(field, draft.limits.depth - kMessageDepth - 2);
    }
    auto string = json::read_string(field, where + "." + std::string(key), kAnyLength);
    if (!string) return tl::unexpected(string.error());
    if (key == "type")
      type = *std::move(string);
    else
      text = *std::move(string);
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  if (type != "text") return units::error(where + ".type", "must be text, the only one supported");
  if (!text) return units::error(where + ".text", "must be given");
  return *std::move(text);
}

// The parts are joined by line breaks, as vLLM and llama-server do.
Checked read_parts(Value& value, const std::string& where, std::pair<Draft&, ChatMessage&> into) {
  Draft& draft = into.first;
  ChatMessage& message = into.second;
  return json::each_element(value, where, [&](Value& element, std::size_t index) -> Checked {
    auto part = read_part(element, indexed(where, index), draft);
    if (!part) return tl::unexpected(part.error());
    if (index > 0) message.content += '\n';
    message.content += *part;
    return {};
  });
}

Checked read_content(Value& value, const std::string& where, std::pair<Draft&, ChatMessage&> into) {
  if (json::is_array(value)) return read_parts(value, where, into);
  if (!json::is_string(value)) {
    return units::error(where, "must be a string or an array of text parts");
  }
  auto text = json::read_string(value, where, kAnyLength);
  if (!text) return tl::unexpected(text.error());
  into.second.content = *std::move(text);
  return {};
}

// The fields of one message while they come in.
struct MessageDraft {
  ChatMessage message;
  bool has_role = false;
  bool has_content = false;
};

Checked read_message_field(std::string_view key, Value& value, const std::string& where,
                           std::pair<Draft&, MessageDraft&> into) {
  Draft& draft = into.first;
  MessageDraft& made = into.second;
  const bool ours = key == "role" || key == "content" || key == "tool_calls";
  if (!ours) return json::check_json(value, draft.limits.depth - kMessageDepth);
  const std::string path = where + "." + std::string(key);
  if (key == "tool_calls") {
    return json::is_null(value) ? Checked() : refuse_unless_empty(value, path, draft);
  }
  bool& seen = key == "role" ? made.has_role : made.has_content;
  if (std::exchange(seen, true)) return units::error(path, "must be given once");
  if (key == "role") return read_role(value, path, made.message);
  return read_content(value, path, {draft, made.message});
}

Checked read_message(Value& value, const std::string& where, Draft& draft) {
  MessageDraft made;
  auto read = json::each_field(value, where, [&](std::string_view key, Value& field) {
    return read_message_field(key, field, where, {draft, made});
  });
  if (!read) return read;
  if (!made.has_role) return units::error(where + ".role", "must be given");
  if (!made.has_content) return units::error(where + ".content", "must be given");
  draft.messages.push_back(std::move(made.message));
  return {};
}

Checked read_messages(Value& value, std::string_view where, Draft& draft) {
  return json::each_element(value, where, [&](Value& element, std::size_t index) -> Checked {
    if (index >= draft.limits.messages) {
      return units::error(
          std::string(where),
          "must have at most " + std::to_string(draft.limits.messages) + " messages");
    }
    return read_message(element, indexed(where, index), draft);
  });
}

Checked read_chat_logprobs(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_bool(value, where);
  if (!read) return tl::unexpected(read.error());
  draft.wants_logprobs = *read;
  return {};
}

Checked read_top_logprobs(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {0, draft.limits.top_logprobs});
  if (!read) return tl::unexpected(read.error());
  draft.top_logprobs = static_cast<std::int32_t>(*read);
  return {};
}

Checked read_modalities(Value& value, std::string_view where, Draft&) {
  return json::each_element(value, where, [where](Value& element, std::size_t) -> Checked {
    auto modality = json::read_string(element, where, 64);
    if (!modality) return tl::unexpected(modality.error());
    if (*modality == "text") return {};
    return units::error(std::string(where), "must be [\"text\"], the only one supported");
  });
}

// The text API asks for log probabilities with one number.
Checked read_text_logprobs(Value& value, std::string_view where, Draft& draft) {
  draft.wants_logprobs = true;
  return read_top_logprobs(value, where, draft);
}

Checked read_echo(Value& value, std::string_view where, Draft&) {
  auto read = json::read_bool(value, where);
  if (!read) return tl::unexpected(read.error());
  if (*read) return units::error(std::string(where), "must be false; echo is not supported");
  return {};
}

Checked read_suffix(Value& value, std::string_view where, Draft&) {
  auto read = json::read_string(value, where, kAnyLength);
  if (!read) return tl::unexpected(read.error());
  if (read->empty()) return {};
  return units::error(std::string(where), "must be empty; insertion is not supported");
}

Checked read_best_of(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {1, draft.limits.n});
  if (!read) return tl::unexpected(read.error());
  draft.best_of = *read;
  return {};
}

Checked add_token(Value& value, std::string_view where, std::vector<Token>& tokens) {
  auto token = json::read_integer(value, where, {0, std::numeric_limits<Token>::max()});
  if (!token) return tl::unexpected(token.error());
  tokens.push_back(static_cast<Token>(*token));
  return {};
}

Checked add_text(Value& value, std::string_view where, Draft& draft) {
  auto text = json::read_string(value, where, kAnyLength);
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return units::error(std::string(where), "must not be empty");
  draft.prompts.emplace_back(*std::move(text));
  return {};
}

Checked add_tokens(Value& value, std::string_view where, Draft& draft) {
  std::vector<Token> tokens;
  auto read = json::each_element(
      value, where, [&](Value& element, std::size_t) { return add_token(element, where, tokens); });
  if (!read) return read;
  if (tokens.empty()) return units::error(std::string(where), "must not be empty");
  draft.prompts.emplace_back(std::move(tokens));
  return {};
}

// An array of texts, of token arrays, or of tokens: then it is itself one prompt.
Checked read_prompts(Value& value, std::string_view where, Draft& draft) {
  if (json::is_string(value)) return add_text(value, where, draft);
  std::vector<Token> tokens;
  auto read = json::each_element(value, where, [&](Value& element, std::size_t) -> Checked {
    if (draft.prompts.size() >= draft.limits.prompts) {
      return units::error(std::string(where),
                          "must have at most " + std::to_string(draft.limits.prompts) + " entries");
    }
    const bool text = json::is_string(element);
    const bool may_follow =
        draft.prompts.empty() || std::holds_alternative<std::string>(draft.prompts.front()) == text;
    if (text && tokens.empty() && may_follow) return add_text(element, where, draft);
    if (json::is_array(element) && tokens.empty() && may_follow) {
      return add_tokens(element, where, draft);
    }
    if (draft.prompts.empty()) return add_token(element, where, tokens);
    return units::error(std::string(where), "must not mix texts and tokens");
  });
  if (!read) {
    return units::error(read.error().where, read.error().message +
                                                "; a prompt is a string, an array of strings, an "
                                                "array of tokens, or an array of token arrays");
  }
  if (!tokens.empty()) draft.prompts.emplace_back(std::move(tokens));
  return {};
}

Checked read_encoding(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_string(value, where, 64);
  if (!read) return tl::unexpected(read.error());
  if (*read != "float" && *read != "base64") {
    return units::error(std::string(where), "must be float or base64");
  }
  draft.encoding = *read == "float" ? EncodingFormat::kFloat : EncodingFormat::kBase64;
  return {};
}

Checked read_dimensions(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {1, 65'536});
  if (!read) return tl::unexpected(read.error());
  draft.dimensions = static_cast<std::int32_t>(*read);
  return {};
}

constexpr auto kChat = std::to_array<Field>({
    {"messages", read_messages},
    {"logprobs", read_chat_logprobs},
    {"top_logprobs", read_top_logprobs},
    {"tools", refuse_unless_empty},
    {"functions", refuse_unless_empty},
    {"modalities", read_modalities},
});

constexpr auto kCompletion = std::to_array<Field>({
    {"prompt", read_prompts},
    {"logprobs", read_text_logprobs},
    {"echo", read_echo},
    {"suffix", read_suffix},
    {"best_of", read_best_of},
});

constexpr auto kEmbeddings = std::to_array<Field>({
    {"model", read_model},
    {"user", read_user},
    {"input", read_prompts},
    {"encoding_format", read_encoding},
    {"dimensions", read_dimensions},
});

}  // namespace

std::span<const Field> chat_fields() {
  return kChat;
}

std::span<const Field> completion_fields() {
  return kCompletion;
}

std::span<const Field> embeddings_fields() {
  return kEmbeddings;
}

std::string_view name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kDeveloper:
      return "developer";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
  }
  return "user";
}

}  // namespace tidegate::openai
