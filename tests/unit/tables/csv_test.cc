#include "tables/csv.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tidegate::tables {
namespace {

class CsvTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const {
    return (std::filesystem::path(testing::TempDir()) / ("tidegate_csv_" + name)).string();
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
};

constexpr const char* kTable = "a,b,name\n1,2.5,x\r\n\n-3,0,\"p, \"\"q\"\"\"\n7,1e3,last";

std::vector<std::string> names_in(const std::string& path) {
  auto csv = Csv::open(path);
  EXPECT_TRUE(csv.has_value()) << csv.error().message;
  std::vector<std::string> names;
  while (csv->next().value()) names.emplace_back(csv->text(2));
  return names;
}

// A table reads the same plain, with gzip and with zstd; quotes, blank lines, CR LF and a missing
// last line end are handled as RFC 4180 says.
TEST_F(CsvTest, ReadsTheSamePlainAndCompressed) {
  const std::string text = kTable;
  const std::string gz = path("t.csv.gz");
  gzFile file = gzopen(gz.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));

  const std::vector<std::string> expected{"x", "p, \"q\"", "last"};
  EXPECT_EQ(names_in(write("t.csv", text)), expected);
  EXPECT_EQ(names_in(gz), expected);
  EXPECT_EQ(names_in(write("t.csv.zst", packed)), expected);
}

// Each bad row is an error that names file:line and what would be right.
TEST_F(CsvTest, NamesTheLineOfABadRow) {
  auto csv = Csv::open(write("bad.csv", "a,b\n1,2\n3\n"));
  ASSERT_TRUE(csv.has_value());
  ASSERT_TRUE(csv->next().has_value());
  const auto short_row = csv->next();
  ASSERT_FALSE(short_row.has_value());
  EXPECT_EQ(short_row.error().where, path("bad.csv") + ":3");

  auto quoted = Csv::open(write("open.csv", "a\n\"never closed\n"));
  ASSERT_TRUE(quoted.has_value());
  EXPECT_FALSE(quoted->next().has_value());
}

// Numbers are taken whole and within their range, or refused: no trailing text, no infinity.
TEST_F(CsvTest, ParsesNumbersStrictly) {
  auto csv = Csv::open(write("n.csv", "i,d\n12,0.5\n12x,inf\n9223372036854775808,1e400\n"));
  ASSERT_TRUE(csv.has_value());
  ASSERT_TRUE(csv->next().value());
  EXPECT_EQ(csv->integer(0, 0, 12).value(), 12);
  EXPECT_FALSE(csv->integer(0, 0, 11).has_value());
  EXPECT_DOUBLE_EQ(csv->number(1, 0, 1).value(), 0.5);
  while (csv->next().value()) {
    EXPECT_FALSE(csv->integer(0, 0, INT64_MAX).has_value());
    EXPECT_FALSE(csv->number(1, 0, 1e308).has_value());
  }
}

// Missing files, columns and headers are reported, and the message lists the columns that exist.
TEST_F(CsvTest, ReportsWhatIsMissing) {
  EXPECT_FALSE(Csv::open(path("does_not_exist")).has_value());
  EXPECT_FALSE(Csv::open(write("empty.csv", "")).has_value());
  auto csv = Csv::open(write("cols.csv", "alpha,beta\n"));
  ASSERT_TRUE(csv.has_value());
  const auto column = csv->require("gamma");
  ASSERT_FALSE(column.has_value());
  EXPECT_NE(column.error().message.find("alpha, beta"), std::string::npos);
}

// A compressed file that was cut short is an error, never a silently shorter table.
TEST_F(CsvTest, NoticesATruncatedFile) {
  std::string text = "a\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + "\n";
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3) / 2);
  auto csv = Csv::open(write("cut.csv.zst", packed));
  ASSERT_TRUE(csv.has_value());
  units::Result<bool> more = true;
  while (more && *more) more = csv->next();
  EXPECT_FALSE(more.has_value());
}

}  // namespace
}  // namespace tidegate::tables
