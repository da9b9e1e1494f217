#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "domain/outcome.h"

namespace tidegate::domain {
namespace {

template <class Enum>
void expect_names(int count) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    const std::string text(name(static_cast<Enum>(i)));
    EXPECT_FALSE(text.empty());
    for (const char c : text) {
      EXPECT_TRUE(c == '_' || std::islower(static_cast<unsigned char>(c)) != 0) << text;
    }
    EXPECT_TRUE(names.insert(text).second) << text << " names two values";
  }
}

// Law: every value of every closed list has a snake_case name of its own.
TEST(Names, AreTotalUniqueAndSnakeCase) {
  expect_names<Outcome>(kOutcomeCount);
  expect_names<Reason>(kReasonCount);
  expect_names<Resource>(kResourceCount);
  expect_names<Tier>(kTierCount);
}

// Law: the count covers the last value of the list: one past it has no name.
TEST(NamesDeathTest, CountsAreExact) {
  EXPECT_DEATH(name(static_cast<Outcome>(kOutcomeCount)), "unknown Outcome");
  EXPECT_DEATH(name(static_cast<Reason>(kReasonCount)), "unknown Reason");
  EXPECT_DEATH(name(static_cast<Resource>(kResourceCount)), "unknown Resource");
  EXPECT_DEATH(name(static_cast<Tier>(kTierCount)), "unknown Tier");
}

}  // namespace
}  // namespace tidegate::domain
