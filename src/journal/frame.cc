#include "journal/frame.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "units/check.h"

namespace tidegate::journal {
namespace {

constexpr std::string_view kMagic = "TIDEJRNL";

void append_little_endian(std::uint64_t v, std::size_t width, Bytes& out) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::byte>(v >> (8 * i)));
}

// REQUIRES: bytes.size() >= width.
std::uint64_t little_endian(std::span<const std::byte> bytes, std::size_t width) {
  std::uint64_t v = 0;
  for (std::size_t i = 0; i < width; ++i) v |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return v;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint32_t length_check(std::uint32_t length) {
  Bytes bytes;
  append_little_endian(length, 4, bytes);
  return static_cast<std::uint32_t>(checksum(bytes));
}

}  // namespace

void append_file_header(Bytes& out) {
  for (const char c : kMagic) out.push_back(static_cast<std::byte>(c));
  append_little_endian(kFormatVersion, 4, out);
}

units::Result<void> check_file_header(std::span<const std::byte> bytes) {
  const auto same = [](char c, std::byte b) { return static_cast<std::byte>(c) == b; };
  if (bytes.size() < kFileHeaderBytes ||
      !std::ranges::equal(kMagic, bytes.first(kMagic.size()), same)) {
    return units::error("byte 0", "this is no journal: it does not start with TIDEJRNL");
  }
  const std::uint64_t version = little_endian(bytes.subspan(kMagic.size()), 4);
  if (version != kFormatVersion) {
    return units::error("byte 8", "this is a journal of format " + std::to_string(version) +
                                      "; this program reads format " +
                                      std::to_string(kFormatVersion));
  }
  return {};
}

void append_frame(const Record& record, Bytes& out) {
  Bytes payload;
  encode(record, payload);
  TIDEGATE_CHECK(payload.size() <= kPayloadBytesMax);
  const auto length = static_cast<std::uint32_t>(payload.size());
  append_little_endian(length, 4, out);
  append_little_endian(length_check(length), 4, out);
  append_little_endian(checksum(payload), 8, out);
  out.insert(out.end(), payload.begin(), payload.end());
}

Frame first_frame(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  if (bytes.size() < kFrameHeaderBytes) return {FrameState::kTorn, {}, 0};
  const auto length = static_cast<std::uint32_t>(little_endian(bytes, 4));
  if (little_endian(bytes.subspan(4), 4) != length_check(length) || length > kPayloadBytesMax) {
    return {FrameState::kCorrupt, {}, 0};
  }
  if (bytes.size() - kFrameHeaderBytes < length) return {FrameState::kTorn, {}, 0};
  const auto payload = bytes.subspan(kFrameHeaderBytes, length);
  if (little_endian(bytes.subspan(8), 8) != checksum(payload)) {
    return {FrameState::kCorrupt, {}, 0};
  }
  return {FrameState::kWhole, payload, kFrameHeaderBytes + length};
}

}  // namespace tidegate::journal
