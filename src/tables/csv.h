// CSV with a header row (RFC 4180 fields within one line), read by column name. Every error names
// file:line, the column and what would be right. One owner; memory of one row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/line_reader.h"
#include "units/result.h"

namespace tidegate::tables {

class Csv {
 public:
  // Opens the file and reads the header. Fails when there is none.
  static units::Result<Csv> open(const std::string& path);
  // The same on a text in memory, which must stay alive; `name` stands for the path in errors.
  static units::Result<Csv> from_text(std::string name, std::string_view text);

  // Position of a column, or nullopt; require() fails with the columns that are there.
  std::optional<std::size_t> column(std::string_view name) const;
  units::Result<std::size_t> require(std::string_view name) const;

  // Reads the next row; false at the end. Blank lines are skipped. Fails when the number of fields
  // differs from the header's.
  units::Result<bool> next();

  // Fields of the current row. REQUIRES: column < the number of columns.
  std::string_view text(std::size_t column) const { return fields_[column]; }
  // Fails unless the whole field is an integer in [low, high].
  units::Result<std::int64_t> integer(std::size_t column, std::int64_t low,
                                      std::int64_t high) const;
  // Fails unless the whole field is a finite number in [low, high].
  units::Result<double> number(std::size_t column, double low, double high) const;

  const std::vector<std::string>& columns() const { return columns_; }
  std::string where() const { return lines_.where(); }

 private:
  explicit Csv(LineReader lines) : lines_(std::move(lines)) {}
  units::Result<bool> read_header();

  LineReader lines_;
  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
};

}  // namespace tidegate::tables
