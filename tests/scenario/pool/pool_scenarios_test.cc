// Plays every scenario of this folder twice and compares the course with the golden text under it.
// A missing golden text fails and prints what happened, ready to be read and, if right, pasted.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "script.h"
#include "world.h"

namespace tidegate::pool::scenario {
namespace {

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(SCENARIO_DIR)) {
    if (file.path().extension() == ".txt" && file.path().stem() != "CMakeLists") {
      names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class PoolScenario : public ::testing::TestWithParam<std::string> {};

// The course of events is exactly the golden one, and the same in every run (D1).
TEST_P(PoolScenario, TakesTheGoldenCourse) {
  std::ifstream file(std::string(SCENARIO_DIR) + "/" + GetParam() + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  const Script script = parse(text.str());
  const std::string course = play(script);
  EXPECT_EQ(course, script.golden);
  EXPECT_EQ(course, play(script));
}

INSTANTIATE_TEST_SUITE_P(All, PoolScenario, ::testing::ValuesIn(scenario_names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace tidegate::pool::scenario
