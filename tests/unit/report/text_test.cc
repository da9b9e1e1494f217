#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/summary.h"
#include "report/text_table.h"

namespace tidegate::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using units::Instant;
using units::milliseconds;
using units::Tokens;

Totals requests(int kept, int shed) {
  Totals totals;
  for (int i = 0; i < kept + shed; ++i) {
    RequestRecord record;
    record.arrival = Instant(1'000'000);
    if (i < kept) {
      record.admitted = true;
      record.first_token = record.arrival + milliseconds(100);
      record.last_token = record.first_token + milliseconds(80);
      record.output = Tokens(3);
    } else {
      record.outcome = domain::Outcome::kRejectedCapacity;
      record.reason = domain::Reason::kKvFull;
    }
    totals.add(record);
  }
  return totals;
}

report::Run run_of(const std::string& policy, std::uint64_t seed, int kept, int shed) {
  report::Run run;
  run.policy = policy;
  run.seed = seed;
  run.simulated_seconds = 10;
  run.totals = requests(kept, shed);
  run.by_class.emplace_back("chat", run.totals);
  return run;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

// Counts of the seeds of one policy add up; its share has their mean and range; another load or
// policy is another summary.
TEST(Summaries, PoolSeeds) {
  Report report{"1.0", "s", {}, {}};
  report.runs = {run_of("a", 1, 8, 2), run_of("b", 1, 1, 1), run_of("a", 2, 10, 0)};
  report.runs.push_back(run_of("a", 1, 1, 3));
  report.runs.back().load = 2;
  report.runs[0].bounds.fluid = 0.9;
  report.runs[2].bounds.fluid = 1.0;
  const auto all = summaries(report);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].totals.offered, 20);
  EXPECT_EQ(all[0].by_class.at(0).second.kept, 18);
  EXPECT_DOUBLE_EQ(all[0].attainment_offered.low, 0.8);
  EXPECT_DOUBLE_EQ(all[0].attainment_offered.mean, 0.9);
  EXPECT_DOUBLE_EQ(all[0].attainment_offered.high, 1.0);
  EXPECT_DOUBLE_EQ(all[0].simulated_seconds, 20);
  EXPECT_NEAR(all[0].bounds.fluid.value(), 0.95, 1e-12);
  EXPECT_DOUBLE_EQ(all[2].load, 2);
}

// The tightest bound is the lowest that was computed.
TEST(Summaries, PickTheTightestBound) {
  EXPECT_FALSE(tightest(Bounds()).has_value());
  EXPECT_EQ(tightest({0.9, 0.8, 0.85, 0.1}).value().name, "fluid");
}

// Wide characters take two columns, combining marks none, and broken UTF-8 one a byte.
TEST(TextTable, KnowsDisplayWidths) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("né"), 2U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);     // e and a combining acute
  EXPECT_EQ(display_width("\u6F6E\u9580"), 4U);  // two ideographs
  EXPECT_EQ(display_width("\U0001F30A"), 2U);    // a wave
  EXPECT_EQ(display_width("\xFF\xC3"), 2U);
}

// Nothing that a terminal would obey comes through a name.
TEST(TextTable, DefusesControlCharacters) {
  EXPECT_EQ(printable("a\x1B[2Jb\r\n"), "a?[2Jb??");
  EXPECT_EQ(printable("x\u202Ey\xC2\x9B"), "x?y?");
  EXPECT_EQ(printable("\xFF\xE6\xBD"), "???");
  EXPECT_EQ(printable("grün \u6F6E"), "grün \u6F6E");
  EXPECT_EQ(printable(std::string("\xED\xA0\x80")), "???");  // a surrogate
  EXPECT_EQ(printable(std::string("\xC0\xAF")), "??");       // overlong
}

// The last column of every row ends at the same place, whatever the scripts of the names.
TEST(TextTable, AlignsByWidth) {
  TextTable table({"name", "n"});
  table.add({"\u6F6E\u6C50", "1"});
  table.add({"gru\xCC\x88n", "23"});
  table.add({"a longer name", "456"});
  for (const std::string& line : lines(table.str())) EXPECT_EQ(display_width(line), 18U) << line;
}

// Each policy has a row with its numbers, what it shed and its distance to the tightest bound.
TEST(Text, ShowsEachPolicy) {
  Report report{"1.0", "tiny", {}, {}};
  report.runs = {run_of("tidegate", 1, 9, 1), run_of("fcfs", 1, 5, 5)};
  report.runs[0].bounds.interval_lp = 0.95;
  const std::string out = text(report);
  EXPECT_THAT(out, HasSubstr("tiny (tidegate 1.0)"));
  EXPECT_THAT(out, HasSubstr("90.0 %"));
  EXPECT_THAT(out, HasSubstr("shed: kv_full 1\n"));
  EXPECT_THAT(out, HasSubstr("bound: interval_lp allows 95.0 %, 5.0 points away"));
  EXPECT_THAT(out, HasSubstr("fcfs"));
  EXPECT_THAT(out, HasSubstr("40.0 ms"));  // 80 ms over two gaps
  for (const std::string& line : lines(out)) EXPECT_LE(display_width(line), 132U) << line;
}

// A share below 1 never shows as 100 %, and a run without anything has no latencies to show.
TEST(Text, NeverRoundsUpToAll) {
  Report report{"1.0", "tiny", {}, {}};
  report.runs = {run_of("p", 1, 9'999, 1)};
  EXPECT_THAT(text(report), Not(HasSubstr(" 100.0 %  99.9")));
  EXPECT_THAT(text(report), HasSubstr("99.9 %"));
  report.runs = {run_of("p", 1, 0, 0)};
  EXPECT_THAT(text(report), HasSubstr(" - "));
  EXPECT_EQ(text({"1.0", "tiny", {}, {}}), "tiny (tidegate 1.0)\nno runs\n");
}

}  // namespace
}  // namespace tidegate::report
