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

// Lengths given in place of a profile's come out as given, also where the profile's prompts are
// shorter.
TEST(Generator, LengthsOfTheSpecAreNotHeldToTheProfile) {
  LengthLaw law;
  law.median = 100'000;
  GeneratorSpec spec;
  spec.profile = "servegen-m-large";  // no prompt of 100,000 tokens, and no later turns
  spec.requests_per_s = 5;
  spec.length = seconds(60);
  spec.input = law;
  spec.output = law;
  for (const TraceRow& row : run(spec).rows) {
    EXPECT_EQ(row.input, Tokens(100'000));
    EXPECT_EQ(row.output, Tokens(100'000));
  }
}

// One seed is one trace; another seed is another one.
TEST(Generator, TheSeedIsTheTrace) {
  const auto rows = [](std::uint64_t seed) {
    GeneratorSpec spec;
    spec.requests_per_s = 5;
    spec.length = seconds(60);
    spec.seed = seed;
    std::vector<std::tuple<Nanos, Tokens, Tokens>> all;
    for (const TraceRow& row : run(spec).rows) all.emplace_back(row.arrival, row.input, row.output);
    return all;
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
}

}  // namespace
}  // namespace tidegate::workload
