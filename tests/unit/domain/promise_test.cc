#include "domain/promise.h"

#include <gtest/gtest.h>

namespace tidegate::domain {
namespace {

using units::Instant;
using units::milliseconds;
using units::Nanos;

// Law: token j is due at first + j * pace.
TEST(Promise, TokensFollowThePace) {
  const Promise promise{Instant(1'000), Nanos(50), Instant::never()};
  for (std::int64_t j = 0; j < 100; ++j) {
    EXPECT_EQ(promise.token_due(j), Instant(1'000 + 50 * j));
  }
  EXPECT_FALSE(promise.best_effort());
}

// Law: a total deadline bounds every token, whatever the pace says.
TEST(Promise, TotalBoundsEveryToken) {
  const Promise promise{Instant(1'000), Nanos(50), Instant(1'120)};
  EXPECT_EQ(promise.token_due(0), Instant(1'000));
  EXPECT_EQ(promise.token_due(2), Instant(1'100));
  EXPECT_EQ(promise.token_due(3), Instant(1'120));
  EXPECT_EQ(promise.token_due(1'000), Instant(1'120));
  const Promise total_only{Instant::never(), Nanos(0), Instant(500)};
  EXPECT_EQ(total_only.token_due(0), Instant(500));
  EXPECT_EQ(total_only.token_due(7), Instant(500));
  EXPECT_FALSE(total_only.best_effort());
}

// Law: without a pace only the first token is due; without anything nothing ever is.
TEST(Promise, WhatIsNotPromisedIsNeverDue) {
  const Promise first_only{Instant(10), Nanos(0), Instant::never()};
  EXPECT_EQ(first_only.token_due(0), Instant(10));
  EXPECT_EQ(first_only.token_due(1), Instant::never());
  const Promise none;
  EXPECT_TRUE(none.best_effort());
  EXPECT_EQ(none.token_due(0), Instant::never());
  EXPECT_EQ(none.token_due(1'000'000), Instant::never());
}

// Law: due times never go backwards, also where they saturate.
TEST(Promise, DueTimesAreMonotone) {
  const Promise promise{Instant(1), milliseconds(1'000'000'000), Instant::never()};
  Instant last(0);
  for (std::int64_t j = 1; j < INT64_MAX / 4; j *= 3) {
    EXPECT_GE(promise.token_due(j), last);
    last = promise.token_due(j);
  }
}

}  // namespace
}  // namespace tidegate::domain
