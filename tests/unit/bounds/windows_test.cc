#include "bounds/windows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "units/prng.h"

namespace tidegate::bounds {
namespace {

std::vector<Load> random_loads(units::Prng& prng) {
  std::vector<Load> loads;
  const auto count = prng.between(1, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto release = prng.between(0, 9);
    const auto due = prng.between(release + 1, 10);
    loads.push_back({static_cast<double>(release), static_cast<double>(due),
                     static_cast<double>(prng.between(0, 30)) / 10});
  }
  return loads;
}

double work_between(const std::vector<Load>& loads, double begin_s, double end_s) {
  double inside = 0;
  for (const Load& load : loads) {
    if (load.release_s >= begin_s && load.due_s <= end_s) inside += load.work_s;
  }
  return inside;
}

// The largest excess over all pairs of a release and a due time, one after the other.
double worst_excess(const std::vector<Load>& loads, double capacity) {
  double worst = 0;
  for (const Load& from : loads) {
    for (const Load& to : loads) {
      if (to.due_s <= from.release_s) continue;
      const double inside = work_between(loads, from.release_s, to.due_s);
      worst = std::max(worst, inside - capacity * (to.due_s - from.release_s));
    }
  }
  return worst;
}

// The first window found is the worst of all, and there is one if and only if some window is
// overfull.
TEST(Windows, FindsTheWorst) {
  units::Prng prng(11);
  for (int i = 0; i < 5'000; ++i) {
    const std::vector<Load> loads = random_loads(prng);
    const double capacity = static_cast<double>(prng.between(1, 20)) / 10;
    const auto found = overfull(loads, capacity, 3);
    const double worst = worst_excess(loads, capacity);
    ASSERT_EQ(found.empty(), worst < 1e-7) << "case " << i;
    const double first = found.empty() ? 0 : found.front().excess_s;
    ASSERT_NEAR(first, worst, 1e-7) << "case " << i;
  }
}

// No more than asked for, the worst first, and none that shares more than half with a worse one.
TEST(Windows, AreFewAndDifferent) {
  std::vector<Load> loads;
  for (int i = 0; i < 10; ++i) loads.push_back({i * 10.0, i * 10.0 + 1, 2.0 + i});
  const auto found = overfull(loads, 1, 4);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i].excess_s, found[i - 1].excess_s);
  }
  EXPECT_LE(overfull({{0, 10, 12}, {0.1, 10, 12}, {0.2, 10, 12}}, 1, 4).size(), 1U);
}

}  // namespace
}  // namespace tidegate::bounds
