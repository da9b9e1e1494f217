// Reads text files line by line, plain or compressed (.gz by content, .zst by name), in bounded
// memory. This is how traces, profiles and fact tables come in. One owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "units/result.h"

namespace tidegate::tables {

class LineReader {
 public:
  // Longest line accepted, in bytes: a longer one is an error, not a reason to fill the memory.
  static constexpr std::size_t kLongestLine = 16 << 20;

  // Fails when the file cannot be opened.
  static units::Result<LineReader> open(const std::string& path);
  // Lines of a text in memory; `name` stands for the path in errors. The text must stay alive.
  static LineReader from_text(std::string name, std::string_view text);

  // The next line without its line end, valid until the next call; false at the end of the file.
  // Fails on a read or decompression error and on a line that is too long.
  units::Result<bool> next(std::string_view& line);

  // Of the line last returned, from 1.
  std::int64_t line_number() const { return line_number_; }
  const std::string& path() const { return path_; }
  // "path:line" of the line last returned, for errors.
  std::string where() const { return path_ + ":" + std::to_string(line_number_); }

  // Where the bytes come from; an implementation for each compression (line_reader.cc).
  class Source {
   public:
    virtual ~Source() = default;
    // Fills the buffer with up to `size` bytes; 0 at the end.
    virtual units::Result<std::size_t> read(char* buffer, std::size_t size) = 0;
  };

 private:
  LineReader(std::string path, std::unique_ptr<Source> source);
  units::Result<bool> fill();

  std::string path_;
  std::unique_ptr<Source> source_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the bytes not yet returned
  std::int64_t line_number_ = 0;
  bool ended_ = false;
};

}  // namespace tidegate::tables
