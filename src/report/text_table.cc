#include "report/text_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "units/check.h"

namespace tidegate::report {
namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr char32_t kBad = 0xFFFFFFFF;

constexpr std::array<Range, 6> kZeroWidth{{{0x300, 0x36F},
                                           {0x200B, 0x200F},
                                           {0x20D0, 0x20FF},
                                           {0xFE00, 0xFE0F},
                                           {0xFE20, 0xFE2F},
                                           {0xFEFF, 0xFEFF}}};
constexpr std::array<Range, 9> kWide{{{0x1100, 0x115F},
                                      {0x2E80, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};
// C0 and C1 controls, line and paragraph separators, and what changes the direction of writing.
constexpr std::array<Range, 5> kObeyed{
    {{0, 0x1F}, {0x7F, 0x9F}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}}};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& r) { return c >= r.first && c <= r.second; });
}

// Bytes of the character that begins with this one; 0 for none.
std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// Takes the next character off the front of `rest`; kBad and one byte where it is no UTF-8.
char32_t take(std::string_view& rest) {
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const std::size_t length = length_from(byte(0));
  char32_t c = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  bool good = length > 0 && length <= rest.size();
  for (std::size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xC0U) == 0x80;
    c = (c << 6U) | (byte(i) & 0x3FU);
  }
  good = good && c >= kLeast[length] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  rest.remove_prefix(good ? length : 1);
  return good ? c : kBad;
}

void append_padded(std::string& out, const std::string& cell, std::size_t width, bool left) {
  const std::string gap(width - std::min(width, display_width(cell)), ' ');
  out += left ? cell + gap : gap + cell;
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  while (!utf8.empty()) {
    const char32_t c = take(utf8);
    if (c != kBad && in(kZeroWidth, c)) continue;
    width += c != kBad && in(kWide, c) ? 2U : 1U;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take(text);
    if (c == kBad || in(kObeyed, c)) {
      out += '?';
    } else {
      out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

TextTable::TextTable(std::vector<std::string> head, std::size_t left) : left_(left) {
  rows_.push_back({std::move(head), false});
}

void TextTable::add(std::vector<std::string> cells) {
  TIDEGATE_CHECK(cells.size() == rows_.front().cells.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({std::move(cells), false});
}

void TextTable::note(const std::string& line) {
  rows_.push_back({{printable(line)}, true});
}

std::string TextTable::str() const {
  std::vector<std::size_t> widths(rows_.front().cells.size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; !row.is_note && i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  std::string out;
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i > 0) out += "  ";
      append_padded(out, row.cells[i], row.is_note ? 0 : widths[i], i < left_);
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace tidegate::report
