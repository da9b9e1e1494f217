#include "bounds/interval_lp.h"

#include <gtest/gtest.h>

#include <vector>

#include "bounds/packing.h"
#include "bounds/prices.h"
#include "small_instance.h"
#include "units/prng.h"

namespace tidegate::bounds {
namespace {

double offered(const Instance& instance) {
  double sum = 0;
  for (const Job& each : instance.jobs) sum += each.weight;
  return sum;
}

// The best fluid schedule in fractions, by its definition: how much of each job is done in each
// slot. A programme of its own, without windows.
double best_by_slots(const Instance& instance) {
  std::vector<Packing::Column> columns;
  std::vector<std::vector<Packing::Entry>> slots(kSlots);
  std::vector<std::vector<Packing::Entry>> whole(instance.jobs.size());
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const Part& part = instance.jobs[i].options[0].parts[0];
    const double work = part.need_s[0];
    const auto end = static_cast<std::size_t>(part.due_s);
    for (auto slot = static_cast<std::size_t>(part.release_s); slot < end; ++slot) {
      const auto column = static_cast<int>(columns.size());
      columns.push_back({instance.jobs[i].weight / work, work});
      slots[slot].push_back({column, 1});
      whole[i].push_back({column, 1});
    }
  }
  Packing lp(columns);
  for (const auto& slot : slots) {
    if (!slot.empty()) lp.add_row(slot, instance.groups[0].engines);
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    lp.add_row(whole[i], instance.jobs[i].options[0].parts[0].need_s[0]);
  }
  EXPECT_TRUE(lp.solve());
  double value = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) value += columns[i].weight * lp.x()[i];
  return value;
}

// With one part a job the bound is what a fluid schedule in fractions attains, no more and no less
// (Horn 1974: the windows are all there is).
TEST(IntervalLp, IsWhatAFluidScheduleAttains) {
  units::Prng prng(21);
  for (int i = 0; i < 1'500; ++i) {
    const Instance instance = random_instance(prng, static_cast<double>(prng.between(1, 2)));
    ASSERT_NEAR(interval_lp(instance.jobs, instance.groups), best_by_slots(instance), 1e-6)
        << "case " << i;
  }
}

// A burst in an idle hour: 3 of 10 jobs of a second fit into the 3 seconds that they have, however
// much idle time is before them.
TEST(IntervalLp, SeesABurst) {
  Instance instance{{{0, 1}}, {job(0, 1, 1)}};
  for (int i = 0; i < 10; ++i) instance.jobs.push_back(job(3'600, 3'603, 1));
  EXPECT_NEAR(interval_lp(instance.jobs, instance.groups), 4, 1e-6);
}

// On one engine that needs 1 s for a job and one that needs 3 s, 3 + 1 of them fit into 3 seconds.
TEST(IntervalLp, UnequalGroupsAddUp) {
  Instance instance{{{0, 1}, {0, 1}}, {}};
  for (int i = 0; i < 8; ++i) {
    instance.jobs.push_back({0, 1, {{0, {{0, 3, {1, 1, 1, 1}}}}, {1, {{0, 3, {3, 3, 3, 3}}}}}});
  }
  EXPECT_NEAR(interval_lp(instance.jobs, instance.groups), 4, 1e-6);
}

// The prices may be anything: what they give is never below the best schedule.
TEST(Prices, BoundTheBestSchedule) {
  units::Prng prng(22);
  for (int i = 0; i < 2'000; ++i) {
    const Instance instance = random_instance(prng, 1);
    std::vector<PricedWindow> windows;
    for (auto count = prng.between(0, 4); count > 0; --count) {
      const auto begin = prng.between(0, kSlots - 1);
      windows.push_back({0, static_cast<Resource>(prng.between(0, 3)), static_cast<double>(begin),
                         static_cast<double>(prng.between(begin + 1, kSlots)),
                         static_cast<double>(prng.between(0, 40)) / 10});
    }
    ASSERT_GE(weight_at_prices(instance.jobs, instance.groups, windows),
              best_share(instance) * offered(instance) - 1e-9)
        << "case " << i;
  }
}

Instance random_crowd(units::Prng& prng) {
  Instance instance{{{0, 2}}, {}};
  for (int i = 0; i < 300; ++i) {
    const double release = static_cast<double>(prng.between(0, 1'000)) / 10;
    const double work = static_cast<double>(prng.between(1, 30)) / 10;
    instance.jobs.push_back(job(release, release + static_cast<double>(prng.between(4, 20)), work));
  }
  return instance;
}

// Crowds that stand for jobs and a solver that is stopped early make the bound looser, not wrong,
// and not much looser: within 5 % at 60 columns for 300 jobs.
TEST(IntervalLp, StaysABoundWithFewColumnsAndRounds) {
  units::Prng prng(23);
  for (int i = 0; i < 20; ++i) {
    const Instance instance = random_crowd(prng);
    const double exact = interval_lp(instance.jobs, instance.groups);
    const double coarse = interval_lp(instance.jobs, instance.groups, {.most_columns = 60});
    const double early = interval_lp(instance.jobs, instance.groups, {.most_rounds = 1});
    EXPECT_GE(coarse, exact - 1e-6) << "case " << i;
    EXPECT_GE(early, exact - 1e-6) << "case " << i;
    EXPECT_LE(coarse, exact * 1.05) << "case " << i;
    EXPECT_LT(exact, 300) << "case " << i;
  }
}

// Nothing to keep is nothing to bound.
TEST(IntervalLp, OfNothingIsNothing) {
  EXPECT_EQ(interval_lp({}, {}), 0);
  const Instance unservable{{{0, 1}}, {{0, 1, {}}}};
  EXPECT_EQ(interval_lp(unservable.jobs, unservable.groups), 0);
}

}  // namespace
}  // namespace tidegate::bounds
