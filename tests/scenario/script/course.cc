#include "course.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tidegate::script {
namespace {

// The first and the last id of a subject; false when it is a name.
bool ids_of(const std::string& subject, std::pair<std::int64_t, std::int64_t>& ids) {
  const auto digit_or_dash = [](char c) { return (c >= '0' && c <= '9') || c == '-'; };
  if (!std::all_of(subject.begin(), subject.end(), digit_or_dash)) return false;
  const std::size_t dash = subject.find('-');
  ids.first = std::stoll(subject.substr(0, dash));
  ids.second = dash == std::string::npos ? ids.first : std::stoll(subject.substr(dash + 1));
  return true;
}

}  // namespace

void Course::measure(const std::string& name, std::int64_t value, std::int64_t id,
                     const std::string& group) {
  measures_[name].push_back({id, group, value});
}

std::vector<std::int64_t> Course::values(const std::string& measure,
                                         const std::string& subject) const {
  std::vector<std::int64_t> found;
  const auto measured = measures_.find(measure);
  if (measured == measures_.end()) return found;
  std::pair<std::int64_t, std::int64_t> ids;
  const bool by_id = !subject.empty() && ids_of(subject, ids);
  for (const Value& each : measured->second) {
    const bool is_meant = by_id ? ids.first <= each.id && each.id <= ids.second
                                : subject.empty() || each.group == subject;
    if (is_meant) found.push_back(each.value);
  }
  return found;
}

std::string in_ms(units::Nanos span) {
  const std::int64_t us = span.value() / 1'000;
  std::string fraction = std::to_string(us % 1'000);
  while (fraction.size() < 3) fraction = "0" + fraction;
  return std::to_string(us / 1'000) + "." + fraction + "ms";
}

std::string in_ms(units::Instant at) {
  return at == units::Instant::never() ? "never" : in_ms(at - units::Instant(0));
}

}  // namespace tidegate::script
