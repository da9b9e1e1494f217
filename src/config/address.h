// HOST:PORT as it is written on the command line, in the environment and in the configuration.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "units/result.h"

namespace tidegate::config {

struct Address {
  std::string host;
  std::uint16_t port = 0;

  // Reachable from this machine only: 127.0.0.0/8, ::1 or "localhost".
  bool loopback() const;
  // As parse_address() reads it; an IPv6 host is put in brackets.
  std::string text() const;

  friend bool operator==(const Address&, const Address&) = default;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0" (0: any free port).
units::Result<Address> parse_address(std::string_view text);

}  // namespace tidegate::config
