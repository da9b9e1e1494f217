#include "workload/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "workload/statistics.h"

namespace tidegate::workload {
namespace {

using units::Nanos;
using units::seconds;
using units::Tokens;

Trace run(const GeneratorSpec& spec) {
  auto trace = generate(spec);
  EXPECT_TRUE(trace.has_value()) << trace.error().where << ": " << trace.error().message;
  return trace.has_value() ? std::move(*trace) : Trace{};
}

// Every profile yields rows in order of arrival, inside the run, with sensible lengths and names.
TEST(Generator, RowsOfEveryProfileAreInOrderAndInTheRun) {
  for (const std::string& profile : profile_names()) {
    GeneratorSpec spec;
    spec.profile = profile;
    spec.requests_per_s = 5;
    spec.length = seconds(600);
    const Trace trace = run(spec);
    EXPECT_GT(trace.rows.size(), 500u) << profile;
    Nanos last(0);
    for (const TraceRow& row : trace.rows) {
      ASSERT_GE(row.arrival, last) << profile;
      last = row.arrival;
      ASSERT_GE(row.input, Tokens(0));
      ASSERT_GE(row.output, Tokens(0));
      ASSERT_TRUE(trace.names[row.tenant].starts_with(profile + "-"));
      ASSERT_LT(row.session, trace.names.size());
    }
    EXPECT_LT(last, spec.length);
  }
}

}  // namespace
}  // namespace tidegate::workload
