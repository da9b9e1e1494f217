#include "units/suggestion.h"

#include <gtest/gtest.h>

namespace tidegate::units {
namespace {

// Distances from the definition: one for each insertion, deletion, substitution or swap.
TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("wieght", "weight"), 1u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

// A slip is recognised, another word is not.
TEST(Suggestion, NamesTheNearestWord) {
  EXPECT_EQ(suggestion("tenents", {"engines", "tenants"}), "did you mean 'tenants'?");
  EXPECT_EQ(suggestion("zebra", {"engines", "tenants"}), "known: engines, tenants");
}

}  // namespace
}  // namespace tidegate::units
