#include "journal/frame.h"

#include <gtest/gtest.h>

#include "random_record.h"

namespace tidegate::journal {
namespace {

// Law: frames laid one after another come back one after another, and then the end.
TEST(Frame, SequenceComesBack) {
  Bytes bytes;
  for (std::uint64_t seed = 0; seed < 50; ++seed) append_frame(random_record(seed), bytes);
  std::span<const std::byte> rest(bytes);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Frame frame = first_frame(rest);
    ASSERT_EQ(frame.state, FrameState::kWhole);
    Bytes expected;
    encode(random_record(seed), expected);
    ASSERT_TRUE(std::ranges::equal(frame.payload, expected));
    rest = rest.subspan(frame.size);
  }
  EXPECT_EQ(first_frame(rest).state, FrameState::kEnd);
}

// Law: a frame cut anywhere inside is torn, never whole and never corrupt.
TEST(Frame, EveryCutIsTorn) {
  Bytes bytes;
  append_frame(random_record(3), bytes);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    EXPECT_EQ(first_frame(std::span<const std::byte>(bytes).first(cut)).state, FrameState::kTorn)
        << "cut " << cut;
  }
}

// Law: a single flipped bit anywhere in a whole frame is corrupt, also in the length.
TEST(Frame, EveryFlippedBitIsCorrupt) {
  Bytes bytes;
  append_frame(random_record(4), bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_EQ(first_frame(damaged).state, FrameState::kCorrupt) << "bit " << bit;
  }
}

// Law: a file of another kind, another version, or none at all is refused in words.
TEST(Frame, HeaderIsChecked) {
  Bytes header;
  append_file_header(header);
  ASSERT_EQ(header.size(), kFileHeaderBytes);
  EXPECT_TRUE(check_file_header(header));
  EXPECT_FALSE(check_file_header(std::span<const std::byte>(header).first(11)));
  EXPECT_FALSE(check_file_header({}));
  header[8] = std::byte{1};
  const auto version = check_file_header(header);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().message, "this is a journal of format 1; this program reads format 6");
  header[0] = std::byte{'X'};
  EXPECT_FALSE(check_file_header(header));
}

}  // namespace
}  // namespace tidegate::journal
