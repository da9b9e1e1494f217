// What a script expects of its course, so that the law is checked also when a golden text was
// pasted without reading:
//
//   expect [AGGREGATE] MEASURE [SUBJECT] OPERATOR VALUE
//   expect AGGREGATE MEASURE [SUBJECT] OPERATOR PERCENT% of SCENARIO [SUBJECT]
//
// AGGREGATE: max, min, sum, count, p50, p99 (nearest rank); without one every value must do.
// MEASURE: a name that the world measures, such as ttft.
// SUBJECT: an id (7), ids (1-20) or the name of a group; without one everything.
// OPERATOR: <=, >= or =. VALUE: a number or a duration.
// SCENARIO: another file of the same folder, or `this`, of whose course the same is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "course.h"

namespace tidegate::script {

struct Expectation {
  std::string line;
  std::string aggregate;  // empty: every value
  std::string measure;
  std::string subject;  // empty: all
  std::string comparison;
  std::int64_t value = 0;  // or percent
  std::string reference;   // empty: none
  std::string reference_subject;
};

// Throws std::runtime_error with the line when it does not understand.
Expectation parse_expectation(const std::string& line);

// The course of another scenario, by name.
using Courses = std::function<const Course&(const std::string& name)>;

// What is wrong, in a sentence; empty when the course is as expected.
std::string verdict(const Expectation& expectation, const Course& course, const Courses& others);

}  // namespace tidegate::script
