// Models with random weights: useless to talk to, but of a known shape, so that speed can be
// measured without a download. The vocabulary is printable ASCII, one token a character, so that
// whatever the model draws is valid UTF-8; end of text practically never comes, so that answers are
// as long as was asked for.
#pragma once

#include <cstdint>
#include <string>

#include "units/result.h"

namespace tidegate::mkmodel {

struct RandomOptions {
  std::string shape;  // "15M" or "100M": about so many parameters
  std::string type;   // "f32", "f16", "q8_0" or "q4_0"
  std::uint64_t seed = 1;
  std::string out;
};

// Writes the model; equal options give equal bytes. Error: an unknown shape or type, or a file that
// cannot be written.
units::Result<void> write_random_model(const RandomOptions& options);

}  // namespace tidegate::mkmodel
