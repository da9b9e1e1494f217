#include "config/quantity_text.h"

#include <gtest/gtest.h>

#include "config/address.h"

namespace tidegate::config {
namespace {

// A duration is its number times its unit, exactly.
TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("7ns")->value(), 7);
  EXPECT_EQ(parse_duration("7us")->value(), 7'000);
  EXPECT_EQ(parse_duration("500ms")->value(), 500'000'000);
  EXPECT_EQ(parse_duration("1.5s")->value(), 1'500'000'000);
  EXPECT_EQ(parse_duration("30min")->value(), 30LL * 60 * 1'000'000'000);
  EXPECT_EQ(parse_duration("2h")->value(), 7'200LL * 1'000'000'000);
  EXPECT_EQ(parse_duration("1 d")->value(), 86'400LL * 1'000'000'000);
}

// What has no unit, an unknown one, no number, or cannot be exact is refused.
TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "500", "ms", "5 parsecs", "-1s", "1..5s", "1.s", "0.5ns", "1e3s",
                           "99999999999999999999s", "9223372036854775807d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

// Decimal and binary multiples differ.
TEST(ParseSize, KeepsBinaryAndDecimalApart) {
  EXPECT_EQ(parse_size("16GiB")->value(), 16LL << 30);
  EXPECT_EQ(parse_size("16GB")->value(), 16'000'000'000);
  EXPECT_EQ(parse_size("0.5KiB")->value(), 512);
  EXPECT_FALSE(parse_size("16"));
  EXPECT_FALSE(parse_size("16gib"));
}

// A percentile lies strictly between 0 and 100.
TEST(ParsePercent, ReadsShares) {
  EXPECT_EQ(parse_percent("99")->value(), 990'000);
  EXPECT_EQ(parse_percent("99.9")->value(), 999'000);
  EXPECT_FALSE(parse_percent("0"));
  EXPECT_FALSE(parse_percent("100"));
  EXPECT_FALSE(parse_percent("99%"));
}

// An address is a host and a port; IPv6 hosts stand in brackets.
TEST(ParseAddress, ReadsHostsAndPorts) {
  EXPECT_EQ(*parse_address("127.0.0.1:8080"), (Address{"127.0.0.1", 8080}));
  EXPECT_EQ(*parse_address("[::1]:0"), (Address{"::1", 0}));
  EXPECT_EQ(parse_address("[::1]:80")->text(), "[::1]:80");
  for (const char* text : {"", "8080", ":8080", "::1:80", "host:", "host:65536", "[]:1", "h:1x"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

}  // namespace
}  // namespace tidegate::config
