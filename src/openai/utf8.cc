#include "openai/utf8.h"

#include <simdjson.h>

#include <algorithm>

namespace tidegate::openai {

namespace {

// How long a character with this first byte is; 1 for one that cannot begin any.
std::size_t announced_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes)) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, announced_length(bytes.front()));
    const bool valid = simdjson::validate_utf8(next);
    out.append(valid ? next : "\xEF\xBF\xBD");
    bytes.remove_prefix(valid ? next.size() : 1);
  }
  return out;
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace tidegate::openai
