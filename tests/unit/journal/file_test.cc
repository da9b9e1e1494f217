#include "journal/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "random_record.h"

namespace tidegate::journal {
namespace {

class JournalFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "journal_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(std::uint64_t records) {
    auto writer = Writer::create(path_);
    ASSERT_TRUE(writer) << writer.error().message;
    for (std::uint64_t seed = 0; seed < records; ++seed) {
      ASSERT_TRUE(writer->append(random_record(seed)));
    }
    ASSERT_TRUE(writer->flush());
  }
  // Records until the end; how the file ended in `end`, an error as nullopt.
  std::uint64_t read(std::optional<ReadEnd>& end) {
    auto reader = Reader::open(path_);
    EXPECT_TRUE(reader);
    std::uint64_t count = 0;
    for (Record record;; ++count) {
      const auto next = reader->next(record);
      end = next ? std::optional(*next) : std::nullopt;
      if (end != ReadEnd::kRecord) return count;
    }
  }

  std::string path_;
};

// Law: what was appended is read back, all of it, and the file ends whole.
TEST_F(JournalFile, ReadsBackWhatWasWritten) {
  write(40);
  std::optional<ReadEnd> end;
  EXPECT_EQ(read(end), 40U);
  EXPECT_EQ(end, ReadEnd::kEnd);
}

// Law: a file cut by a crash gives every whole record and then says that its tail is torn.
TEST_F(JournalFile, TornTailIsRecognised) {
  write(40);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  std::optional<ReadEnd> end;
  EXPECT_EQ(read(end), 39U);
  EXPECT_EQ(end, ReadEnd::kTorn);
}

// Law: a changed byte is an error that names the place, not a record.
TEST_F(JournalFile, ChangedByteIsAnError) {
  write(2);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(kFileHeaderBytes + kFrameHeaderBytes));
  file.put('\x7F');
  file.close();
  auto reader = Reader::open(path_);
  ASSERT_TRUE(reader);
  Record record;
  const auto next = reader->next(record);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().where, path_ + ": byte 12");
}

// Law: a path that cannot be created or opened is an error in words.
TEST_F(JournalFile, UnusablePathIsAnError) {
  EXPECT_FALSE(Writer::create(path_ + "/no/such/folder"));
  EXPECT_FALSE(Reader::open(path_ + "/no/such/folder"));
}

// Law: when the disk is full the writer says so, and goes on saying so.
TEST_F(JournalFile, FullDiskIsAnErrorThatStays) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = Writer::create("/dev/full");
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->flush());
  EXPECT_FALSE(writer->append(random_record(1)));
  EXPECT_FALSE(writer->flush());
}

}  // namespace
}  // namespace tidegate::journal
