// Whatever the bytes, a body parses into values in range or into an Error with a message.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "openai/parse.h"
#include "openai/refusal.h"
#include "units/check.h"

using namespace tidegate;

namespace {

void check(const openai::Generation& generation) {
  const openai::ParseLimits limits;
  TIDEGATE_CHECK(!generation.model.empty());
  TIDEGATE_CHECK(generation.n >= 1 && generation.n <= limits.n);
  TIDEGATE_CHECK(generation.max_tokens.value_or(1) >= 1);
  TIDEGATE_CHECK(generation.max_tokens.value_or(1) <= limits.max_tokens);
  TIDEGATE_CHECK(generation.logprobs >= -1 && generation.logprobs <= limits.top_logprobs);
  TIDEGATE_CHECK(generation.stop.size() <= limits.stop_strings);
  for (const auto& stop : generation.stop) TIDEGATE_CHECK(!stop.empty());
  const openai::Sampling& sampling = generation.sampling;
  TIDEGATE_CHECK(sampling.temperature >= 0 && sampling.temperature <= 2);
  TIDEGATE_CHECK(sampling.top_p >= 0 && sampling.top_p <= 1);
  TIDEGATE_CHECK(sampling.top_k >= 0);
}

void check(const units::Error& error) {
  TIDEGATE_CHECK(!error.message.empty());
  TIDEGATE_CHECK(!openai::error_body(openai::refusal(error)).empty());
}

void check(const std::vector<openai::Prompt>& prompts) {
  TIDEGATE_CHECK(!prompts.empty());
  for (const auto& prompt : prompts) {
    std::visit([](const auto& content) { TIDEGATE_CHECK(!content.empty()); }, prompt);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer gives the name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  if (const auto chat = openai::parse_chat(body)) {
    check(chat->generation);
    TIDEGATE_CHECK(!chat->messages.empty());
  } else {
    check(chat.error());
  }
  if (const auto completion = openai::parse_completion(body)) {
    check(completion->generation);
    check(completion->prompts);
  } else {
    check(completion.error());
  }
  if (const auto embeddings = openai::parse_embeddings(body)) {
    check(embeddings->inputs);
  } else {
    check(embeddings.error());
  }
  return 0;
}
