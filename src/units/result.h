// Result<T>: a value or an Error that says what is wrong, where, and what would be right.
// Expected failures are values; exceptions do not cross a room's edge.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tidegate::units {

struct Error {
  std::string where;    // "config.yaml:12", "max_tokens", "line 7", or empty
  std::string message;  // what is wrong and what would be right, one sentence
};

template <class T>
using Result = tl::expected<T, Error>;

// The failing side of a Result.
inline tl::unexpected<Error> error(std::string where, std::string message) {
  return tl::unexpected<Error>(Error{std::move(where), std::move(message)});
}

}  // namespace tidegate::units
