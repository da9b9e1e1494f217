// The first lines of an answer: status line and headers to bytes. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/exchange.h"

namespace tidegate::net {

struct ResponseHead {
  int status = 200;
  int version = 11;  // of the request: 10 or 11
  bool keep_alive = true;
  std::optional<std::size_t> content_length;  // none: chunked, or until the end for HTTP/1.0
  std::string_view date;                      // of the date header; empty: left out
};

// Adds connection and the framing headers; those that `headers` brings are left out, as are headers
// whose name is not a token. Bytes of values that would end a line become spaces.
std::string response_head(const ResponseHead& head, const Headers& headers);

// True when the headers ask to close the connection after the answer.
bool asks_to_close(const Headers& headers);

}  // namespace tidegate::net
