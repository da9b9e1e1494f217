#include "workload/lengths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidegate::workload {
namespace {

LengthLaw law(LengthKind kind, double median, double spread = 1) {
  LengthLaw l;
  l.kind = kind;
  l.median = median;
  l.spread = spread;
  return l;
}

std::int64_t at(const LengthLaw& l, double u) {
  return draw(l, u).value();
}

// Half of what each law gives is below its median.
TEST(Lengths, HaveTheirMedian) {
  for (const LengthKind kind : {LengthKind::kFixed, LengthKind::kExponential,
                                LengthKind::kLognormal, LengthKind::kPareto}) {
    EXPECT_EQ(at(law(kind, 500), 0.5), 500);
  }
}

// Other quantiles by the closed forms: exponential -m ln(1-u)/ln 2, lognormal m exp(sigma z),
// Pareto m (2 (1-u))^(-1/alpha), uniform low + u (high - low + 1).
TEST(Lengths, HaveTheirQuantiles) {
  EXPECT_EQ(at(law(LengthKind::kExponential, 100), 0.75), 200);
  EXPECT_EQ(at(law(LengthKind::kLognormal, 100, 0.5), 0.975),
            std::llround(100 * std::exp(0.5 * 1.959963984540054)));
  EXPECT_EQ(at(law(LengthKind::kPareto, 100, 2), 0.995), 1'000);
  LengthLaw dice = law(LengthKind::kUniform, 1);
  dice.low = units::Tokens(1);
  dice.high = units::Tokens(6);
  EXPECT_EQ(at(dice, 0.01), 1);
  EXPECT_EQ(at(dice, 0.16), 1);
  EXPECT_EQ(at(dice, 0.17), 2);
  EXPECT_EQ(at(dice, 0.99), 6);
}

// A table gives its own points, and between them the middle of their logarithms.
TEST(Lengths, TableGoesThroughItsPoints) {
  LengthLaw table = law(LengthKind::kTable, 1);
  table.table = {{0, 9}, {0.5, 99}, {1, 999}};
  EXPECT_EQ(at(table, 0.5), 99);
  EXPECT_EQ(at(table, 0.25), std::llround(std::sqrt(10.0 * 100) - 1));
  EXPECT_EQ(at(table, 0.75), std::llround(std::sqrt(100.0 * 1000) - 1));
}

// Nothing leaves the bounds.
TEST(Lengths, AreHeldInTheirBounds) {
  LengthLaw bounded = law(LengthKind::kPareto, 100, 0.1);
  bounded.low = units::Tokens(60);
  bounded.high = units::Tokens(200);
  EXPECT_EQ(at(bounded, 0.999), 200);
  EXPECT_EQ(at(bounded, 0.01), 60);
}

// What no law can mean is refused with the field's name.
TEST(Lengths, RefusesWhatIsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(check(law(LengthKind::kFixed, 0)).error().where, "median");
  EXPECT_EQ(check(law(LengthKind::kFixed, nan)).error().where, "median");
  EXPECT_EQ(check(law(LengthKind::kLognormal, 10, -1)).error().where, "spread");
  EXPECT_EQ(check(law(LengthKind::kTable, 10)).error().where, "table");
  LengthLaw falling = law(LengthKind::kTable, 1);
  falling.table = {{0, 10}, {0.5, 5}, {1, 20}};
  EXPECT_EQ(check(falling).error().where, "table");
  LengthLaw crossed = law(LengthKind::kFixed, 1);
  crossed.low = units::Tokens(10);
  crossed.high = units::Tokens(5);
  EXPECT_EQ(check(crossed).error().where, "low");
  EXPECT_TRUE(check(law(LengthKind::kPareto, 10, 1.5)).has_value());
}

}  // namespace
}  // namespace tidegate::workload
