#include "tables/line_reader.h"

#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace tidegate::tables {
namespace {

constexpr std::size_t kChunk = 256 << 10;

// zlib reads plain files through the same calls, so this serves both.
class GzipSource final : public LineReader::Source {
 public:
  GzipSource(gzFile file, std::string path) : file_(file), path_(std::move(path)) {}
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { gzclose(file_); }

  units::Result<std::size_t> read(char* buffer, std::size_t size) override {
    const int got = gzread(file_, buffer, static_cast<unsigned>(size));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (got < 0 || code < 0)
      return units::error(path_, std::string("cannot decompress: ") + message);
    return static_cast<std::size_t>(got);
  }

 private:
  gzFile file_;
  std::string path_;
};

class ZstdSource final : public LineReader::Source {
 public:
  ZstdSource(std::FILE* file, std::string path)
      : file_(file), path_(std::move(path)), stream_(ZSTD_createDStream()), raw_(kChunk) {}
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override {
    ZSTD_freeDStream(stream_);
    std::fclose(file_);
  }

  units::Result<std::size_t> read(char* buffer, std::size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        in_ = {raw_.data(), std::fread(raw_.data(), 1, raw_.size(), file_), 0};
        if (in_.size == 0) break;
      }
      pending_ = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(pending_) != 0) {
        return units::error(path_,
                            std::string("cannot decompress: ") + ZSTD_getErrorName(pending_));
      }
    }
    if (out.pos == 0 && pending_ != 0)
      return units::error(path_, "the compressed file is cut short");
    return out.pos;
  }

 private:
  std::FILE* file_;
  std::string path_;
  ZSTD_DStream* stream_;
  std::vector<char> raw_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t pending_ = 0;
};

class TextSource final : public LineReader::Source {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}

  units::Result<std::size_t> read(char* buffer, std::size_t size) override {
    const std::size_t taken = rest_.copy(buffer, size);
    rest_.remove_prefix(taken);
    return taken;
  }

 private:
  std::string_view rest_;
};

units::Result<std::unique_ptr<LineReader::Source>> open_source(const std::string& path) {
  std::unique_ptr<LineReader::Source> source;
  if (path.ends_with(".zst")) {
    if (std::FILE* file = std::fopen(path.c_str(), "rb"); file != nullptr) {
      source = std::make_unique<ZstdSource>(file, path);
    }
  } else if (gzFile file = gzopen(path.c_str(), "rb"); file != nullptr) {
    source = std::make_unique<GzipSource>(file, path);
  }
  if (!source) return units::error(path, std::string("cannot open: ") + std::strerror(errno));
  return source;
}

}  // namespace

LineReader::LineReader(std::string path, std::unique_ptr<Source> source)
    : path_(std::move(path)), source_(std::move(source)) {}

units::Result<LineReader> LineReader::open(const std::string& path) {
  auto source = open_source(path);
  if (!source) return tl::unexpected(source.error());
  return LineReader(path, std::move(*source));
}

LineReader LineReader::from_text(std::string name, std::string_view text) {
  return {std::move(name), std::make_unique<TextSource>(text)};
}

units::Result<bool> LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > kLongestLine) {
    return units::error(where(), "the line is longer than 16 MiB: is this a text file?");
  }
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kChunk);
  auto got = source_->read(buffer_.data() + old, kChunk);
  if (!got) return tl::unexpected(got.error());
  buffer_.resize(old + *got);
  ended_ = *got == 0;
  return true;
}

units::Result<bool> LineReader::next(std::string_view& line) {
  std::size_t scanned = begin_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', scanned);
    if (end != std::string::npos || (ended_ && begin_ < buffer_.size())) {
      line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = end == std::string::npos ? buffer_.size() : end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_number_;
      return true;
    }
    if (ended_) return false;
    scanned = buffer_.size() - begin_;
    if (auto filled = fill(); !filled) return filled;
  }
}

}  // namespace tidegate::tables
