#include "openai/hints.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidegate::openai {
namespace {

// Every hint arrives as the value it stands for; milliseconds are exact to the nanosecond.
TEST(Hints, ReadsEveryHeader) {
  const auto hints = parse_hints({{"x-tidegate-class", "chat"},
                                  {"x-tidegate-ttft-ms", "500"},
                                  {"x-tidegate-tpot-ms", "12.5"},
                                  {"x-tidegate-deadline-ms", "0.000001"},
                                  {"x-llm-d-inference-fairness-id", "team-a"},
                                  {"x-llm-d-inference-objective", "fast"},
                                  {"x-stainless-retry-count", "2"},
                                  {"idempotency-key", "k 1"},
                                  {"x-other", std::string(1000, '\xff')}});
  ASSERT_TRUE(hints.has_value()) << hints.error().where;
  EXPECT_EQ(hints->service_class, "chat");
  EXPECT_EQ(hints->ttft, units::milliseconds(500));
  EXPECT_EQ(hints->tpot, units::Nanos(12'500'000));
  EXPECT_EQ(hints->deadline, units::Nanos(1));
  EXPECT_EQ(hints->fairness_id, "team-a");
  EXPECT_EQ(hints->objective, "fast");
  EXPECT_EQ(hints->caller_retries, 2);
  EXPECT_EQ(hints->idempotency_key, "k 1");
}

// No headers, no hints.
TEST(Hints, AreOptional) {
  const auto hints = parse_hints({});
  ASSERT_TRUE(hints.has_value());
  EXPECT_EQ(hints->ttft, std::nullopt);
  EXPECT_EQ(hints->caller_retries, 0);
  EXPECT_TRUE(hints->service_class.empty());
}

// Our own name wins over the names of others, whatever their order.
TEST(Hints, OwnNameWins) {
  const auto hints = parse_hints({{"x-slo-ttft-ms", "1"},
                                  {"x-llm-d-slo-ttft-ms", "2"},
                                  {"x-tidegate-ttft-ms", "3"},
                                  {"x-slo-tpot-ms", "4"},
                                  {"x-llm-d-slo-tpot-ms", "5"},
                                  {"x-gateway-inference-fairness-id", "g"}});
  ASSERT_TRUE(hints.has_value());
  EXPECT_EQ(hints->ttft, units::milliseconds(3));
  EXPECT_EQ(hints->tpot, units::milliseconds(5));
  EXPECT_EQ(hints->fairness_id, "g");
}

// What cannot be read exactly as a span in range is refused and the header named.
TEST(Hints, RefusesBadSpans) {
  for (const char* value :
       {"", "0", "0.0", "-1", "+1", "1e3", "abc", "1.", ".5", "1.2.3", "0.0000001", "86400001",
        "99999999999999999999", "0x10", " 5", "5 ", "NaN", "1,5", "\t"}) {
    const auto hints = parse_hints({{"x-slo-ttft-ms", value}});
    ASSERT_FALSE(hints.has_value()) << value;
    EXPECT_EQ(hints.error().where, "x-slo-ttft-ms");
  }
  EXPECT_TRUE(parse_hints({{"x-slo-ttft-ms", "86400000"}}).has_value());
}

// A header given twice, too long or not printable is refused.
TEST(Hints, RefusesAmbiguousText) {
  const std::vector<Headers> wrong = {
      {{"x-tidegate-class", "a"}, {"x-tidegate-class", "a"}},
      {{"x-tidegate-class", std::string(257, 'x')}},
      {{"x-tidegate-class", "caf\xc3\xa9"}},
  };
  for (const Headers& headers : wrong) {
    const auto hints = parse_hints(headers);
    ASSERT_FALSE(hints.has_value());
    EXPECT_EQ(hints.error().where, "x-tidegate-class");
  }
}

// The count of retries is capped, not wrapped.
TEST(Hints, CapsRetries) {
  const auto retries = [](const char* text) {
    const auto hints = parse_hints({{"x-stainless-retry-count", text}});
    return hints ? static_cast<int>(hints->caller_retries) : -1;
  };
  EXPECT_EQ(retries("255"), 255);
  EXPECT_EQ(retries("256"), 255);
  EXPECT_EQ(retries("999999999"), 255);
  EXPECT_EQ(retries("1000000000"), -1);
  EXPECT_EQ(retries("-1"), -1);
  EXPECT_EQ(retries(""), -1);
}

}  // namespace
}  // namespace tidegate::openai
