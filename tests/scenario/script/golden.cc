#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tidegate::script {
namespace {

Script read(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  return parse(text.str());
}

}  // namespace

std::vector<std::string> scenarios_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".txt" && file.path().stem() != "CMakeLists") {
      names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_golden_course(const std::string& folder, const std::string& name, const Play& play) {
  const Script script = read(folder, name);
  const Course course = play(script);
  EXPECT_EQ(course.text, script.golden);
  EXPECT_EQ(course.text, play(script).text);
  ASSERT_FALSE(script.expectations.empty()) << "the script expects nothing";
  std::map<std::string, Course> others;
  const auto other = [&](const std::string& reference) -> const Course& {
    if (!others.contains(reference)) others[reference] = play(read(folder, reference));
    return others[reference];
  };
  for (const Expectation& each : script.expectations) {
    EXPECT_EQ(verdict(each, course, other), "");
  }
}

}  // namespace tidegate::script
