#include "expectation.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "script.h"

namespace tidegate::script {
namespace {

using Values = std::vector<std::int64_t>;

bool is_aggregate(const std::string& word) {
  return word == "max" || word == "min" || word == "sum" || word == "count" || word == "p50" ||
         word == "p99";
}

bool is_comparison(const std::string& word) {
  return word == "<=" || word == ">=" || word == "=";
}

std::int64_t quantile(Values values, std::int64_t percent) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t rank = std::max<std::int64_t>(1, (count * percent + 99) / 100);
  return values[static_cast<std::size_t>(rank - 1)];
}

// REQUIRES: values, but for sum and count.
std::int64_t aggregated(const std::string& how, const Values& values) {
  if (how == "sum") return std::accumulate(values.begin(), values.end(), std::int64_t{0});
  if (how == "count") return static_cast<std::int64_t>(values.size());
  if (how == "max") return *std::max_element(values.begin(), values.end());
  if (how == "min") return *std::min_element(values.begin(), values.end());
  return quantile(values, std::stoll(how.substr(1)));
}

bool holds(std::int64_t is, const std::string& comparison, std::int64_t bound) {
  if (comparison == "<=") return is <= bound;
  if (comparison == ">=") return is >= bound;
  return is == bound;
}

std::string told(const Expectation& expectation, std::int64_t is, std::int64_t bound) {
  return expectation.line + ": it is " + std::to_string(is) + " against " + std::to_string(bound);
}

}  // namespace

Expectation parse_expectation(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  const auto comparison = std::find_if(words.begin(), words.end(), is_comparison);
  std::vector<std::string> left(words.begin() + 1, comparison);
  const std::vector<std::string> right(comparison, words.end());
  Expectation result;
  result.line = line;
  if (!left.empty() && is_aggregate(left[0])) {
    result.aggregate = left[0];
    left.erase(left.begin());
  }
  const bool compared = (right.size() == 4 || right.size() == 5) && right[2] == "of" &&
                        right[1].back() == '%' && !result.aggregate.empty();
  if (left.empty() || left.size() > 2 || (right.size() != 2 && !compared)) {
    throw std::runtime_error("not an expectation: " + line);
  }
  result.measure = left[0];
  if (left.size() == 2) result.subject = left[1];
  result.comparison = right[0];
  if (compared) result.reference = right[3];
  if (compared) result.reference_subject = right.size() == 5 ? right[4] : result.subject;
  result.value = compared ? std::stoll(right[1]) : to_number(right[1]);
  return result;
}

std::string verdict(const Expectation& expectation, const Course& course, const Courses& others) {
  const auto& [line, aggregate, measure, subject, comparison, value, reference, there_subject] =
      expectation;
  const Values values = course.values(measure, subject);
  const bool may_be_empty = aggregate == "sum" || aggregate == "count";
  if (values.empty() && !may_be_empty) return line + ": nothing of the kind was measured";
  std::int64_t bound = value;
  if (!reference.empty()) {
    const Course& there_course = reference == "this" ? course : others(reference);
    const Values there = there_course.values(measure, there_subject);
    if (there.empty()) return line + ": nothing of the kind was measured there";
    bound = aggregated(aggregate, there) * value / 100;
  }
  const Values judged = aggregate.empty() ? values : Values{aggregated(aggregate, values)};
  for (const std::int64_t each : judged) {
    if (!holds(each, comparison, bound)) return told(expectation, each, bound);
  }
  return "";
}

}  // namespace tidegate::script
