#include "config/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/quantity_text.h"
#include "config/suggestion.h"

namespace tidegate::config {

void Problems::add(const YAML::Mark& mark, const std::string& wrong, const std::string& right) {
  add(mark, wrong + "; " + right);
}

void Problems::add(const YAML::Mark& mark, std::string message) {
  list_.push_back({mark.line, {place(mark), std::move(message)}});
}

std::string Problems::place(const YAML::Mark& mark) const {
  return file_ + ":" + std::to_string(std::max(mark.line, 0) + 1);
}

std::vector<units::Error> Problems::sorted() const {
  std::vector<Entry> entries = list_;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.line < b.line; });
  std::vector<units::Error> errors;
  for (Entry& entry : entries) errors.push_back(std::move(entry.error));
  return errors;
}

Section::Section(const YAML::Node& node, std::string title, Problems& problems)
    : node_(node), mark_(node.Mark()), title_(std::move(title)), problems_(problems) {
  if (node_.IsNull()) return;
  if (!node_.IsMap()) {
    problems_.add(node_.Mark(), title_ + " is not a map", "write {key: value, ...}");
    readable_ = false;
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    if (seen.insert(key).second) continue;
    problems_.add(entry.first.Mark(), "'" + key + "' stands twice in " + title_,
                  "keep one of them");
  }
}

std::optional<YAML::Node> Section::find(const std::string& key) const {
  if (!node_.IsMap()) return std::nullopt;
  for (const auto& entry : node_) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) return entry.second;
  }
  return std::nullopt;
}

std::optional<YAML::Node> Section::take(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return find(key);
}

std::optional<std::string> Section::scalar(const std::string& key, const std::string& right) {
  const auto node = take(key);
  if (!node) return std::nullopt;
  if (node->IsScalar() && !node->Scalar().empty()) return node->Scalar();
  problems_.add(node->Mark(), "'" + key + "' of " + title_ + " is not a single value", right);
  return std::nullopt;
}

std::optional<std::string> Section::text(const std::string& key) {
  return scalar(key, "write one text, not empty");
}

std::optional<std::int64_t> Section::integer(const std::string& key, std::int64_t low,
                                             std::int64_t high) {
  const std::string right =
      "write a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const auto value = scalar(key, right);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, failure] = std::from_chars(value->data(), end, number);
  if (failure == std::errc() && stop == end && number >= low && number <= high) return number;
  problem(key, "'" + key + "' is '" + *value + "'", right);
  return std::nullopt;
}

std::optional<double> Section::number(const std::string& key, double low, double high) {
  const std::string right = fmt::format("write a number from {} to {}", low, high);
  const auto value = scalar(key, right);
  if (!value) return std::nullopt;
  double number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, failure] = std::from_chars(value->data(), end, number);
  if (failure == std::errc() && stop == end && number >= low && number <= high) return number;
  problem(key, "'" + key + "' is '" + *value + "'", right);
  return std::nullopt;
}

std::optional<bool> Section::boolean(const std::string& key) {
  const auto value = scalar(key, "write true or false");
  if (!value) return std::nullopt;
  if (*value == "true") return true;
  if (*value == "false") return false;
  problem(key, "'" + key + "' is '" + *value + "'", "write true or false");
  return std::nullopt;
}

std::optional<units::Nanos> Section::duration(const std::string& key) {
  const auto value = scalar(key, "write a duration, for example 500ms");
  if (!value) return std::nullopt;
  const auto parsed = parse_duration(*value);
  if (parsed) return *parsed;
  problems_.add(find(key)->Mark(), "'" + key + "' of " + title_ + ": " + parsed.error().message);
  return std::nullopt;
}

std::optional<units::Bytes> Section::size(const std::string& key) {
  const auto value = scalar(key, "write a size, for example 16GiB");
  if (!value) return std::nullopt;
  const auto parsed = parse_size(*value);
  if (parsed) return *parsed;
  problems_.add(find(key)->Mark(), "'" + key + "' of " + title_ + ": " + parsed.error().message);
  return std::nullopt;
}

std::vector<YAML::Node> Section::list(const std::string& key) {
  std::vector<YAML::Node> entries;
  const auto node = take(key);
  if (!node || node->IsNull()) return entries;
  if (!node->IsSequence()) {
    problems_.add(node->Mark(), "'" + key + "' of " + title_ + " is not a list", "write [a, b]");
    return entries;
  }
  for (const auto& entry : *node) entries.push_back(entry);
  return entries;
}

std::vector<std::string> Section::texts(const std::string& key) {
  std::vector<std::string> values;
  for (const YAML::Node& entry : list(key)) {
    if (entry.IsScalar() && !entry.Scalar().empty()) {
      values.push_back(entry.Scalar());
    } else {
      problems_.add(entry.Mark(), "an entry of '" + key + "' is not a text", "write [a, b]");
    }
  }
  return values;
}

void Section::require(const std::string& key, const std::string& right) {
  if (!take(key)) problem(key, title_ + " has no '" + key + "'", right);
}

void Section::problem(const std::string& key, const std::string& wrong, const std::string& right) {
  const auto node = find(key);
  problems_.add(node ? node->Mark() : mark_, wrong, right);
}

void Section::finish() {
  if (!node_.IsMap()) return;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    problems_.add(entry.first.Mark(), "unknown key '" + key + "' in " + title_,
                  suggestion(key, known_));
  }
}

}  // namespace tidegate::config
