// A table of UTF-8 text with aligned columns. Plain value, one owner.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::report {

// How many columns of a terminal the text takes: none for combining marks, two for wide
// characters (Unicode TR 11, the blocks that are wide or full-width throughout). O(bytes).
std::size_t display_width(std::string_view utf8);

// The text with control characters, direction overrides and bytes that are no UTF-8 as '?', so that
// a name cannot drive a terminal. O(bytes).
std::string printable(std::string_view text);

class TextTable {
 public:
  // The first `left` columns are aligned left, the others right.
  explicit TextTable(std::vector<std::string> head, std::size_t left = 1);

  // REQUIRES: as many cells as the head has.
  void add(std::vector<std::string> cells);
  // A line of its own below the last row, not aligned.
  void note(const std::string& line);
  // Cells are made printable(); columns are two spaces apart.
  std::string str() const;

 private:
  struct Row {
    std::vector<std::string> cells;  // one only: a note
    bool is_note = false;
  };
  std::size_t left_;
  std::vector<Row> rows_;
};

}  // namespace tidegate::report
