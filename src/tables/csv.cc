#include "tables/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace tidegate::tables {
namespace {

// Appends the field that starts at `at` and returns the position behind it (its comma or the end).
units::Result<std::size_t> take_field(std::string_view line, std::size_t at, std::string& field) {
  field.clear();
  if (at >= line.size() || line[at] != '"') {
    const std::size_t end = std::min(line.find(',', at), line.size());
    field.assign(line.substr(at, end - at));
    return end;
  }
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] != '"') {
      field.push_back(line[i]);
    } else if (i + 1 < line.size() && line[i + 1] == '"') {
      field.push_back(line[i++]);
    } else {
      return i + 1;
    }
  }
  return units::error("", "a quoted field has no closing quote");
}

units::Result<std::size_t> split(std::string_view line, std::vector<std::string>& fields) {
  std::size_t count = 0;
  for (std::size_t at = 0;; ++at) {
    if (count == fields.size()) fields.emplace_back();
    auto end = take_field(line, at, fields[count]);
    if (!end) return end;
    ++count;
    if (*end >= line.size()) return count;
    if (line[*end] != ',') return units::error("", "text follows the closing quote of a field");
    at = *end;
  }
}

}  // namespace

units::Result<bool> Csv::read_header() {
  std::string_view header;
  auto got = lines_.next(header);
  if (!got) return got;
  if (!*got) {
    return units::error(lines_.path(), "the file is empty; its first line should name the columns");
  }
  auto count = split(header, columns_);
  if (!count) return units::error(where(), count.error().message);
  return true;
}

units::Result<Csv> Csv::open(const std::string& path) {
  auto lines = LineReader::open(path);
  if (!lines) return tl::unexpected(lines.error());
  Csv csv(std::move(*lines));
  if (auto header = csv.read_header(); !header) return tl::unexpected(header.error());
  return csv;
}

units::Result<Csv> Csv::from_text(std::string name, std::string_view text) {
  Csv csv(LineReader::from_text(std::move(name), text));
  if (auto header = csv.read_header(); !header) return tl::unexpected(header.error());
  return csv;
}

std::optional<std::size_t> Csv::column(std::string_view name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == name) return i;
  }
  return std::nullopt;
}

units::Result<std::size_t> Csv::require(std::string_view name) const {
  if (auto found = column(name)) return *found;
  return units::error(
      lines_.path() + ":1",
      fmt::format("there is no column '{}'; the columns are {}", name, fmt::join(columns_, ", ")));
}

units::Result<bool> Csv::next() {
  std::string_view line;
  do {
    auto got = lines_.next(line);
    if (!got || !*got) return got;
  } while (line.empty());
  auto count = split(line, fields_);
  if (!count) return units::error(where(), count.error().message);
  if (*count != columns_.size()) {
    return units::error(where(), fmt::format("the row has {} fields, the header names {} columns",
                                             *count, columns_.size()));
  }
  return true;
}

units::Result<std::int64_t> Csv::integer(std::size_t column, std::int64_t low,
                                         std::int64_t high) const {
  const std::string& field = fields_[column];
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code == std::errc() && end == field.data() + field.size() && value >= low && value <= high) {
    return value;
  }
  return units::error(where(), fmt::format("{} is '{}'; it should be an integer from {} to {}",
                                           columns_[column], field, low, high));
}

units::Result<double> Csv::number(std::size_t column, double low, double high) const {
  const std::string& field = fields_[column];
  double value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code == std::errc() && end == field.data() + field.size() && std::isfinite(value) &&
      value >= low && value <= high) {
    return value;
  }
  return units::error(where(), fmt::format("{} is '{}'; it should be a number from {} to {}",
                                           columns_[column], field, low, high));
}

}  // namespace tidegate::tables
