#include "config/address.h"

#include <charconv>

namespace tidegate::config {

bool Address::loopback() const {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

std::string Address::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

units::Result<Address> parse_address(std::string_view text) {
  const auto wrong = [text] {
    return units::error("", "'" + std::string(text) +
                                "' is not an address; write HOST:PORT, for example "
                                "127.0.0.1:8080 or [::1]:8080");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return wrong();
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  Address address{std::string(host), 0};
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, address.port);
  if (failure != std::errc() || stop != end) return wrong();
  return address;
}

}  // namespace tidegate::config
