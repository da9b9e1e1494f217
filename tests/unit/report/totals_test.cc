#include "report/totals.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "report/report.h"

namespace tidegate::report {
namespace {

using domain::Outcome;
using units::Instant;
using units::milliseconds;
using units::Tokens;

RequestRecord completed() {
  RequestRecord record;
  record.admitted = true;
  record.arrival = Instant(1'000'000);
  record.started = record.arrival + milliseconds(2);
  record.first_token = record.arrival + milliseconds(10);
  record.last_token = record.first_token + milliseconds(40);
  record.output = Tokens(5);
  record.input = Tokens(100);
  return record;
}

// Each request is counted under exactly one outcome, and a promise is kept only by a request that
// completed in the run with every token in time.
TEST(Totals, CountsEachRequestOnce) {
  Totals totals;
  totals.add(completed());
  RequestRecord late = completed();
  late.late_tokens = 1;
  totals.add(late);
  RequestRecord refused;
  refused.outcome = Outcome::kRejectedCapacity;
  refused.reason = domain::Reason::kKvFull;
  totals.add(refused);
  RequestRecord unfinished = completed();
  unfinished.residue = true;
  totals.add(unfinished);

  const std::int64_t refusals = totals.rejected[static_cast<std::size_t>(domain::Reason::kKvFull)];
  EXPECT_EQ(totals.offered, totals.completed + refusals + totals.residue);
  EXPECT_DOUBLE_EQ(totals.attainment_offered(), 0.25);
  EXPECT_DOUBLE_EQ(totals.attainment_admitted(), 1.0 / 3);
}

// TPOT is the time between first and last token over the tokens after the first.
TEST(Totals, MeasuresTimePerOutputToken) {
  Totals totals;
  totals.add(completed());
  EXPECT_NEAR(static_cast<double>(totals.tpot.max().value()), 10e6, 1);
  EXPECT_EQ(totals.ttft.max(), milliseconds(10));
  EXPECT_EQ(totals.queue.max(), milliseconds(2));
}

// The JSON has the keys of the schema, in milliseconds and shares.
TEST(Report, WritesItsSchema) {
  Report report{"1.2.3", "tiny", {}, {}};
  report::Run run;
  run.simulated_seconds = 2;
  run.totals.add(completed());
  run.by_class.emplace_back("chat", run.totals);
  report.runs.push_back(run);
  const auto parsed = boost::json::parse(json(report));
  const auto& out = parsed.at("runs").at(0);
  EXPECT_EQ(parsed.at("schema_version").as_int64(), kSchemaVersion);
  EXPECT_NEAR(out.at("totals").at("ttft_ms").at("p50").as_double(), 10.0, 0.1);
  EXPECT_DOUBLE_EQ(out.at("totals").at("goodput_rps").as_double(), 0.5);
  EXPECT_EQ(out.at("by_class").at(0).at("name").as_string(), "chat");
  EXPECT_TRUE(out.at("bounds").at("fluid").is_null());
}

}  // namespace
}  // namespace tidegate::report
