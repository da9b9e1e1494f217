// Bytes that may not be UTF-8, made fit for JSON. Internal to this room. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate::openai {

// The same text where it is valid; each byte that is not part of a valid character becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);
// Characters in valid UTF-8.
std::int64_t count_characters(std::string_view text);

}  // namespace tidegate::openai
