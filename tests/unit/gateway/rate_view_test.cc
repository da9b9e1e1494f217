#include "gateway/rate_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidegate::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Each limit has three headers; a limit that is not there has none.
TEST(RateHeaders, NameLimitRestAndReset) {
  RateView view;
  view.requests = RateLine{600, 599, units::milliseconds(100)};
  openai::Headers headers;
  append_rate_headers(view, headers);
  EXPECT_THAT(headers, ElementsAre(Pair("x-ratelimit-limit-requests", "600"),
                                   Pair("x-ratelimit-remaining-requests", "599"),
                                   Pair("x-ratelimit-reset-requests", "100ms")));
}

// A reset is rounded up, so that who comes back then is not early.
TEST(RateHeaders, RoundTheResetUp) {
  RateView view;
  view.tokens = RateLine{10, 0, units::Nanos(1'510'000'001)};
  openai::Headers headers;
  append_rate_headers(view, headers);
  EXPECT_EQ(headers.back().second, "1.6s");
}

}  // namespace
}  // namespace tidegate::gateway
