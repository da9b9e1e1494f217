// Vectors of floats in the form that `encoding_format: base64` asks for. Internal to this room.
// Pure and thread-safe.
#pragma once

#include <string>
#include <vector>

namespace tidegate::openai {

// Standard base64 with padding (RFC 4648, 4) of the numbers' little-endian bytes.
std::string base64_of_floats(const std::vector<float>& numbers);

}  // namespace tidegate::openai
