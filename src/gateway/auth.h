// Who is calling. Keys are compared as SHA-256 digests, in constant time and always against all of
// them, so that neither time nor answer tells an unknown key from a wrong one. Immutable after
// construction, thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "config/server_config.h"
#include "net/exchange.h"

namespace tidegate::gateway {

config::KeyDigest digest_of(std::string_view key);

// The key in `authorization: Bearer KEY` or, without that, in `x-api-key`; empty when there is
// none, or when one of them is given twice.
std::string_view bearer_key(const net::Headers& headers);

class Auth {
 public:
  // Tenants that a reload removed have no calls.
  explicit Auth(const std::vector<config::TenantConfig>& tenants);

  // Index of the tenant that the key belongs to; for an empty key the tenant without keys.
  // Nullopt: 401. Linear in the number of keys.
  std::optional<std::size_t> tenant(std::string_view key) const;

 private:
  std::vector<std::pair<config::KeyDigest, std::size_t>> keys_;
  std::optional<std::size_t> keyless_;
};

// True when `key` is one of `keys`. As careful as Auth::tenant.
bool one_of(const std::vector<config::KeyDigest>& keys, std::string_view key);

}  // namespace tidegate::gateway
