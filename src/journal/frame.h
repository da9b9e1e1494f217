// The frames of a journal file: a header with magic and version, then records one after another,
// each with its length and checksums in front. Pure functions over bytes.
//
//   file:  "TIDEJRNL", u32 version
//   frame: u32 length, u32 check of the length, u64 XXH3 of the payload, payload
//
// All numbers are little-endian. The length has its own check, so that a flipped bit in it is told
// apart from the torn tail that a crash leaves: a tail is torn only when the file ends inside a
// frame that is sound so far. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "journal/codec.h"
#include "units/result.h"

namespace tidegate::journal {

inline constexpr std::uint32_t kFormatVersion = 6;
inline constexpr std::size_t kFileHeaderBytes = 12;
inline constexpr std::size_t kFrameHeaderBytes = 16;
// A longer record is refused on both sides; the largest prompt's prefix chain is far below it.
inline constexpr std::size_t kPayloadBytesMax = std::size_t{64} << 20U;

void append_file_header(Bytes& out);
// Error when the bytes are no journal, or one of another version. REQUIRES: nothing; a short span
// is an error like any other.
units::Result<void> check_file_header(std::span<const std::byte> bytes);

// Appends the record with its frame header. REQUIRES: it encodes to at most kPayloadBytesMax.
void append_frame(const Record& record, Bytes& out);

enum class FrameState : std::uint8_t {
  kWhole,    // payload is the record's bytes
  kEnd,      // nothing left
  kTorn,     // the bytes end inside a frame that is sound so far
  kCorrupt,  // a checksum does not hold, or no frame can be this long
};

struct Frame {
  FrameState state = FrameState::kEnd;
  std::span<const std::byte> payload;  // kWhole only
  std::size_t size = 0;                // bytes of the whole frame; kWhole only
};

// Looks at the first frame of `bytes`. Linear in that frame.
Frame first_frame(std::span<const std::byte> bytes);

}  // namespace tidegate::journal
