#include "journal/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tidegate::journal {
namespace {

tl::unexpected<units::Error> system_error(const std::string& path, const char* doing) {
  return units::error(path, std::string("cannot ") + doing + ": " + std::strerror(errno));
}

}  // namespace

units::Result<Writer> Writer::create(const std::string& path) {
  FilePointer file(std::fopen(path.c_str(), "wb"));
  if (!file) return system_error(path, "create the journal");
  Writer writer(std::move(file), path);
  Bytes header;
  append_file_header(header);
  if (auto written = writer.write(header); !written) return tl::unexpected(written.error());
  return writer;
}

units::Result<void> Writer::append(const Record& record) {
  scratch_.clear();
  append_frame(record, scratch_);
  return write(scratch_);
}

units::Result<void> Writer::write(const Bytes& bytes) {
  if (broken_) return units::error(path_, "an earlier write failed, so the journal has ended");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
  broken_ = true;
  return system_error(path_, "write the journal");
}

units::Result<void> Writer::flush() {
  if (broken_) return units::error(path_, "an earlier write failed, so the journal has ended");
  if (std::fflush(file_.get()) == 0) return {};
  broken_ = true;
  return system_error(path_, "write the journal");
}

units::Result<Reader> Reader::open(const std::string& path) {
  const FilePointer file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_error(path, "open the journal");
  Bytes bytes;
  std::array<std::byte, 65'536> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(got));
  }
  if (std::ferror(file.get()) != 0) return system_error(path, "read the journal");
  if (auto header = check_file_header(bytes); !header) {
    return units::error(path + ": " + header.error().where, header.error().message);
  }
  return Reader(std::move(bytes), path);
}

units::Result<ReadEnd> Reader::next(Record& record) {
  const Frame frame = first_frame(std::span<const std::byte>(bytes_).subspan(at_));
  const std::string where = path_ + ": byte " + std::to_string(at_);
  switch (frame.state) {
    case FrameState::kEnd:
      return ReadEnd::kEnd;
    case FrameState::kTorn:
      return ReadEnd::kTorn;
    case FrameState::kCorrupt:
      return units::error(where, "the record's checksum does not hold, so the file was changed");
    case FrameState::kWhole:
      break;
  }
  auto decoded = decode(frame.payload);
  if (!decoded) return units::error(where + ", " + decoded.error().where, decoded.error().message);
  record = std::move(*decoded);
  at_ += frame.size;
  return ReadEnd::kRecord;
}

}  // namespace tidegate::journal
