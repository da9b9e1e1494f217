#include "report/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <vector>

#include "report/report.h"
#include "units/prng.h"

namespace tidegate::report {
namespace {

using units::Blocks;
using units::Instant;
using units::Nanos;
using units::seconds;
using units::Tokens;

Timeline two_groups() {
  return Timeline({{"new", 2, Blocks(200)}, {"old", 1, Blocks(50)}}, Instant(0) + seconds(10));
}

// Merging loses nothing: after any number of doublings the slices add up to all that was put in,
// there are never more than kSlices, and a long run still has at least half of them.
TEST(Timeline, KeepsEverySumInFlatMemory) {
  units::Prng prng(7);
  for (int round = 0; round < 20; ++round) {
    Timeline timeline = two_groups();
    const std::int64_t span = std::int64_t{1} << prng.between(36, 55);
    std::int64_t arrivals = 0;
    Nanos busy(0);
    for (int i = 0; i < 2'000; ++i) {
      const Instant at(i == 0 ? span : prng.between(0, span));
      timeline.at(at).arrivals += 1;
      timeline.at(at, 1).busy += Nanos(i);
      arrivals += 1;
      busy += Nanos(i);
    }
    std::int64_t found = 0;
    for (const Slice& slice : timeline.slices()) found += slice.arrivals;
    Nanos found_busy(0);
    for (const GroupSlice& slice : timeline.slices(1)) found_busy += slice.busy;
    EXPECT_EQ(found, arrivals);
    EXPECT_EQ(found_busy, busy);
    EXPECT_LE(timeline.slices().size(), Timeline::kSlices);
    EXPECT_GE(timeline.slices().size(), Timeline::kSlices / 2);
  }
}

// What happened in the half-open stretch (i, i + 1] x length is in slice i, whether it was put
// there before or after the merging; time 0 belongs to the first.
TEST(Timeline, PutsEventsWhereTheyHappened) {
  Timeline timeline;
  timeline.at(Instant(0)).arrivals += 1;
  timeline.at(Instant(0) + seconds(100)).completed += 1;
  timeline.at(Instant(0) + seconds(3'600)).failed += 1;
  timeline.at(Instant(0) + seconds(100)).preemptions += 1;
  ASSERT_EQ(timeline.slice_length(), seconds(16));
  const auto slices = timeline.slices();
  ASSERT_EQ(slices.size(), 225U);  // 3600 / 16
  EXPECT_EQ(slices[0].arrivals, 1);
  EXPECT_EQ(slices[6].completed, 1);  // 96 < 100 <= 112
  EXPECT_EQ(slices[6].preemptions, 1);
  EXPECT_EQ(slices[224].failed, 1);
  EXPECT_EQ(timeline.covered(224), seconds(16));
}

// Merged levels keep the mean of all samples and the greatest of them.
TEST(Timeline, MergesLevels) {
  Level a;
  a.sample(-3);
  Level b;
  b.sample(5);
  b.sample(10);
  a.add(b);
  a.add(Level());
  EXPECT_EQ(a.samples, 3);
  EXPECT_EQ(a.sum, 12);
  EXPECT_EQ(a.max, 10);
  Level c;
  c.add(a);
  EXPECT_EQ(c.max, 10);
}

// Every end is counted as what it was: refusals by reason, a caller who left not at all.
TEST(Timeline, SortsEnds) {
  Slice slice;
  slice.ended(domain::Outcome::kCompleted, domain::Reason::kNone);
  slice.ended(domain::Outcome::kRejectedCapacity, domain::Reason::kKvFull);
  slice.ended(domain::Outcome::kRejectedQuota, domain::Reason::kTokenRate);
  slice.ended(domain::Outcome::kCancelled, domain::Reason::kCallerLeft);
  slice.ended(domain::Outcome::kDeadlineExceeded, domain::Reason::kDeadlinePassed);
  EXPECT_EQ(slice.completed, 1);
  EXPECT_EQ(slice.failed, 1);
  EXPECT_EQ(slice.shed[static_cast<std::size_t>(domain::Reason::kKvFull)], 1);
  EXPECT_EQ(slice.shed[static_cast<std::size_t>(domain::Reason::kTokenRate)], 1);
}

// The JSON gives rates per second, KV use and busy time as shares of the group, and null where
// nobody looked.
TEST(Timeline, WritesItsSchema) {
  Report report{"1.2.3", "tiny", {}, {}};
  report::Run run;
  run.timeline = two_groups();
  const Instant at = Instant(0) + units::milliseconds(250);
  run.timeline.at(at).output += Tokens(50);
  run.timeline.at(at, 0).busy += units::milliseconds(125);
  run.timeline.at(at, 0).kv_used.sample(80);
  run.timeline.at(at, 0).kv_used.sample(20);
  report.runs.push_back(run);
  report.runs.emplace_back();

  const auto parsed = boost::json::parse(json(report));
  const auto& timeline = parsed.at("runs").at(0).at("timeline");
  EXPECT_DOUBLE_EQ(timeline.at("slice_seconds").as_double(), 0.125);
  EXPECT_DOUBLE_EQ(timeline.at("counted_from_seconds").as_double(), 10);
  EXPECT_DOUBLE_EQ(timeline.at("tokens_per_s").at(1).as_double(), 400);
  EXPECT_TRUE(timeline.at("queued").at(0).is_null());
  const auto& group = timeline.at("by_gpu").at(0);
  EXPECT_DOUBLE_EQ(group.at("utilisation").at(1).as_double(), 0.5);      // of two engines
  EXPECT_DOUBLE_EQ(group.at("kv_used").at(1).as_double(), 0.5);          // 50 of 100 each
  EXPECT_DOUBLE_EQ(group.at("kv_used_fullest").at(1).as_double(), 0.8);  // 80 of 100
  EXPECT_TRUE(parsed.at("runs").at(1).at("timeline").is_null());
}

}  // namespace
}  // namespace tidegate::report
