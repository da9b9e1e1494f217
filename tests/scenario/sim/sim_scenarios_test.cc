// Plays every scenario of this folder.
#include <gtest/gtest.h>

#include <string>

#include "golden.h"
#include "world.h"

namespace tidegate::scenario::testing {
namespace {

class SimScenario : public ::testing::TestWithParam<std::string> {};

// The course of events is exactly the golden one, the same in every run (D1), and as expected.
TEST_P(SimScenario, TakesTheGoldenCourse) {
  script::expect_golden_course(SCENARIO_DIR, GetParam(), play);
}

INSTANTIATE_TEST_SUITE_P(All, SimScenario, ::testing::ValuesIn(script::scenarios_of(SCENARIO_DIR)),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace tidegate::scenario::testing
