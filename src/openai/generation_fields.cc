#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "openai/draft.h"

namespace tidegate::openai {

namespace {

using json::Checked;
using json::Value;

// Puts what was read where it belongs, or passes the error on.
template <class Read, class Target>
Checked store(units::Result<Read> read, Target& target) {
  if (!read) return tl::unexpected(std::move(read.error()));
  target = static_cast<Target>(*std::move(read));
  return {};
}

Checked read_max_tokens(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {1, draft.limits.max_tokens});
  if (!read) return tl::unexpected(read.error());
  draft.generation.max_tokens = *read;
  return {};
}

Checked read_max_completion_tokens(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {1, draft.limits.max_tokens});
  if (!read) return tl::unexpected(read.error());
  draft.max_completion_tokens = *read;
  return {};
}

Checked read_n(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_integer(value, where, {1, draft.limits.n}), draft.generation.n);
}

Checked read_temperature(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {0, 2}), draft.generation.sampling.temperature);
}

Checked read_top_p(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {0, 1, true}), draft.generation.sampling.top_p);
}

// -1 is vLLM's way to say "off", 0 llama.cpp's.
Checked read_top_k(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(value, where, {-1, std::numeric_limits<std::int32_t>::max()});
  if (!read) return tl::unexpected(read.error());
  draft.generation.sampling.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(*read, 0));
  return {};
}

Checked read_min_p(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {0, 1}), draft.generation.sampling.min_p);
}

Checked read_repeat_penalty(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {0, 2, true}),
               draft.generation.sampling.repeat_penalty);
}

Checked read_presence_penalty(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {-2, 2}),
               draft.generation.sampling.presence_penalty);
}

Checked read_frequency_penalty(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_number(value, where, {-2, 2}),
               draft.generation.sampling.frequency_penalty);
}

Checked read_seed(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_integer(value, where,
                                  {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}),
               draft.generation.sampling.seed);
}

Checked read_priority(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_integer(
      value, where,
      {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()});
  if (!read) return tl::unexpected(read.error());
  draft.generation.priority = static_cast<std::int32_t>(*read);
  return {};
}

Checked read_bias(std::string_view key, Value& value, Draft& draft) {
  auto& entries = draft.generation.sampling.logit_bias;
  LogitBias entry;
  const char* const end = key.data() + key.size();
  const auto parsed = std::from_chars(key.data(), end, entry.token);
  if (parsed.ec != std::errc{} || parsed.ptr != end || entry.token < 0) {
    return units::error("logit_bias", "must map token numbers to biases");
  }
  const bool twice = std::any_of(entries.begin(), entries.end(), [&entry](const LogitBias& other) {
    return other.token == entry.token;
  });
  if (twice || entries.size() >= draft.limits.logit_bias_entries) {
    return units::error("logit_bias", "must have at most " +
                                          std::to_string(draft.limits.logit_bias_entries) +
                                          " entries, each token once");
  }
  auto stored = store(json::read_number(value, "logit_bias", {-100, 100}), entry.bias);
  if (stored) entries.push_back(entry);
  return stored;
}

Checked read_logit_bias(Value& value, std::string_view where, Draft& draft) {
  return json::each_field(value, where, [&draft](std::string_view key, Value& bias) {
    return read_bias(key, bias, draft);
  });
}

Checked add_stop(Value& value, std::string_view where, Draft& draft) {
  auto text = json::read_string(value, where, draft.limits.stop_bytes);
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return units::error(std::string(where), "must not have an empty string");
  if (draft.generation.stop.size() >= draft.limits.stop_strings) {
    return units::error(
        std::string(where),
        "must have at most " + std::to_string(draft.limits.stop_strings) + " strings");
  }
  draft.generation.stop.push_back(*std::move(text));
  return {};
}

Checked read_stop(Value& value, std::string_view where, Draft& draft) {
  if (!json::is_array(value)) {
    if (json::is_string(value)) return add_stop(value, where, draft);
    return units::error(std::string(where), "must be a string or an array of strings");
  }
  return json::each_element(
      value, where, [&](Value& element, std::size_t) { return add_stop(element, where, draft); });
}

Checked read_stream(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_bool(value, where), draft.generation.stream);
}

Checked read_stream_options(Value& value, std::string_view where, Draft& draft) {
  draft.has_stream_options = true;
  return json::each_field(value, where, [&draft](std::string_view key, Value& option) -> Checked {
    if (key != "include_usage") return json::check_json(option, draft.limits.depth - 2);
    if (json::is_null(option)) return {};
    return store(json::read_bool(option, "stream_options.include_usage"),
                 draft.generation.include_usage);
  });
}

// The only format is text: a grammar would have to be promised, and no engine here keeps one.
Checked read_response_format(Value& value, std::string_view where, Draft& draft) {
  bool is_text = false;
  auto read = json::each_field(value, where, [&](std::string_view key, Value& field) -> Checked {
    if (key != "type") return json::check_json(field, draft.limits.depth - 2);
    auto type = json::read_string(field, "response_format.type", 64);
    if (!type) return tl::unexpected(type.error());
    is_text = *type == "text";
    return {};
  });
  if (!read) return read;
  if (!is_text) {
    return units::error(std::string(where), "must be {\"type\":\"text\"}, the only one supported");
  }
  return {};
}

constexpr auto kFields = std::to_array<Field>({
    {"model", read_model},
    {"user", read_user},
    {"max_tokens", read_max_tokens},
    {"n", read_n},
    {"temperature", read_temperature},
    {"top_p", read_top_p},
    {"top_k", read_top_k},
    {"min_p", read_min_p},
    {"repeat_penalty", read_repeat_penalty},
    {"repetition_penalty", read_repeat_penalty},
    {"presence_penalty", read_presence_penalty},
    {"frequency_penalty", read_frequency_penalty},
    {"seed", read_seed},
    {"logit_bias", read_logit_bias},
    {"stop", read_stop},
    {"stream", read_stream},
    {"stream_options", read_stream_options},
    {"priority", read_priority},
    {"response_format", read_response_format},
    {"max_completion_tokens", read_max_completion_tokens},
});

}  // namespace

std::span<const Field> generation_fields() {
  return kFields;
}

Checked read_model(Value& value, std::string_view where, Draft& draft) {
  auto read = json::read_string(value, where, draft.limits.model_bytes);
  if (!read) return tl::unexpected(read.error());
  if (read->empty()) return units::error(std::string(where), "must name a model");
  draft.generation.model = *std::move(read);
  return {};
}

Checked read_user(Value& value, std::string_view where, Draft& draft) {
  return store(json::read_string(value, where, draft.limits.user_bytes), draft.generation.user);
}

Checked refuse_unless_empty(Value& value, std::string_view where, Draft&) {
  auto walked = json::each_element(value, where, [where](Value&, std::size_t) -> Checked {
    return units::error(std::string(where), "is not supported here; leave it out");
  });
  return walked;
}

}  // namespace tidegate::openai
