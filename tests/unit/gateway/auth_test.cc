#include "gateway/auth.h"

#include <gtest/gtest.h>

namespace tidegate::gateway {
namespace {

config::TenantConfig tenant(std::vector<config::KeyDigest> keys) {
  config::TenantConfig config;
  config.keys = std::move(keys);
  return config;
}

// FIPS 180-2, appendix B.1: the SHA-256 of "abc".
TEST(DigestOf, IsSha256) {
  const config::KeyDigest expected = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                      0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                      0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                      0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
  EXPECT_EQ(digest_of("abc"), expected);
}

// A key names the tenant that holds it; any other key names nobody.
TEST(Auth, FindsTheTenantOfAKey) {
  const Auth auth({tenant({digest_of("one")}), tenant({digest_of("two"), digest_of("three")})});
  EXPECT_EQ(auth.tenant("one"), 0u);
  EXPECT_EQ(auth.tenant("three"), 1u);
  EXPECT_FALSE(auth.tenant("four"));
  EXPECT_FALSE(auth.tenant(""));
}

// A tenant without keys takes the calls without a key, and where nobody has keys every call.
TEST(Auth, LetsTheKeylessIn) {
  const Auth mixed({tenant({digest_of("one")}), tenant({})});
  EXPECT_EQ(mixed.tenant(""), 1u);
  EXPECT_FALSE(mixed.tenant("wrong"));
  const Auth open({tenant({})});
  EXPECT_EQ(open.tenant("anything"), 0u);
}

// The scheme is spelled in any case; a header given twice counts as none.
TEST(BearerKey, ReadsTheHeader) {
  EXPECT_EQ(bearer_key({{"authorization", "Bearer k"}}), "k");
  EXPECT_EQ(bearer_key({{"authorization", "bEARER k"}}), "k");
  EXPECT_EQ(bearer_key({{"x-api-key", "k"}}), "k");
  EXPECT_EQ(bearer_key({{"authorization", "Basic k"}}), "");
  EXPECT_EQ(bearer_key({{"authorization", "Bearer "}}), "");
  EXPECT_EQ(bearer_key({{"authorization", "Bearer a"}, {"authorization", "Bearer b"}}), "");
}

}  // namespace
}  // namespace tidegate::gateway
