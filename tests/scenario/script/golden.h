// Plays the scenarios of a folder and compares their courses with the golden texts and with what
// the scripts expect. A missing golden text fails and prints what happened, ready to be read and,
// if right, pasted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "course.h"
#include "script.h"

namespace tidegate::script {

// The file names of a folder without ".txt", sorted.
std::vector<std::string> scenarios_of(const std::string& folder);

using Play = std::function<Course(const Script&)>;
// Plays one twice, with gtest expectations.
void expect_golden_course(const std::string& folder, const std::string& name, const Play& play);

}  // namespace tidegate::script
