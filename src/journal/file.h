// Journal files: the one impure corner of this room. The writer appends whole frames; the reader
// hands records out one by one and says how the file ended. One owner each; not thread-safe.
//
// A full disk must not stop serving, so a failed write is an Error that the owner counts and
// alarms on, and every later write of the same writer fails too: never half a record followed by a
// whole one.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "journal/frame.h"

namespace tidegate::journal {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

class Writer {
 public:
  // Creates or empties the file and writes its header. Error when that fails.
  static units::Result<Writer> create(const std::string& path);

  // Appends the record to the file's buffer. Error when the disk refuses it, now or earlier.
  units::Result<void> append(const Record& record);
  // Hands everything appended so far to the operating system.
  units::Result<void> flush();

 private:
  Writer(FilePointer file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  units::Result<void> write(const Bytes& bytes);

  FilePointer file_;
  std::string path_;
  Bytes scratch_;
  bool broken_ = false;
};

enum class ReadEnd : std::uint8_t { kRecord, kEnd, kTorn };

class Reader {
 public:
  // Opens the file and checks its header; reads the whole of it into memory.
  static units::Result<Reader> open(const std::string& path);

  // kRecord: `record` holds the next one. kEnd: the file ended after a whole record. kTorn: it ends
  // inside one, as after a crash; what came before is sound. Error: checksum or content is wrong.
  units::Result<ReadEnd> next(Record& record);

 private:
  Reader(Bytes bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}

  Bytes bytes_;
  std::string path_;
  std::size_t at_ = kFileHeaderBytes;
};

}  // namespace tidegate::journal
