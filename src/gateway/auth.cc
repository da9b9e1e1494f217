#include "gateway/auth.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace tidegate::gateway {
namespace {

constexpr std::string_view kScheme = "bearer ";

bool equal(const config::KeyDigest& a, const config::KeyDigest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The one value of this header, or nothing when it is absent or given twice.
std::string_view single(const net::Headers& headers, std::string_view name) {
  std::string_view value;
  int times = 0;
  for (const auto& [key, text] : headers) {
    if (key != name) continue;
    value = text;
    ++times;
  }
  return times == 1 ? value : std::string_view();
}

bool has_scheme(std::string_view value) {
  if (value.size() <= kScheme.size()) return false;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = value[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != kScheme[i]) return false;
  }
  return true;
}

}  // namespace

config::KeyDigest digest_of(std::string_view key) {
  config::KeyDigest digest{};
  std::vector<unsigned char> bytes(key.begin(), key.end());
  SHA256(bytes.data(), bytes.size(), digest.data());
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return digest;
}

std::string_view bearer_key(const net::Headers& headers) {
  const std::string_view value = single(headers, "authorization");
  if (has_scheme(value)) return value.substr(kScheme.size());
  return single(headers, "x-api-key");
}

Auth::Auth(const std::vector<config::TenantConfig>& tenants) {
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (tenants[i].removed) continue;
    if (tenants[i].keys.empty()) keyless_ = i;
    for (const config::KeyDigest& key : tenants[i].keys) keys_.emplace_back(key, i);
  }
}

std::optional<std::size_t> Auth::tenant(std::string_view key) const {
  const config::KeyDigest digest = digest_of(key);
  std::optional<std::size_t> found;
  for (const auto& [known, index] : keys_) {
    if (equal(known, digest)) found = index;
  }
  // The official clients insist on sending some key; where there are no keys any will do.
  if (!found && (key.empty() || keys_.empty())) return keyless_;
  return found;
}

bool one_of(const std::vector<config::KeyDigest>& keys, std::string_view key) {
  const config::KeyDigest digest = digest_of(key);
  bool found = false;
  for (const config::KeyDigest& known : keys) found |= equal(known, digest);
  return found;
}

}  // namespace tidegate::gateway
