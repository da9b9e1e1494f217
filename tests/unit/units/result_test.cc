#include "units/result.h"

#include <gtest/gtest.h>

#include <string>

namespace tidegate::units {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return error("number", "is odd; give an even one");
  return number / 2;
}

// A Result holds either the value or the error, with its place and message as they were given.
TEST(Result, IsAValueOrAnError) {
  EXPECT_EQ(half(8).value(), 4);
  const auto failed = half(7);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().where, "number");
  EXPECT_EQ(failed.error().message, "is odd; give an even one");
}

}  // namespace
}  // namespace tidegate::units
