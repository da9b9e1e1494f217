#include "bounds/fluid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bounds/bounds.h"
#include "units/prng.h"

namespace tidegate::bounds {
namespace {

constexpr int kSlots = 10;  // unit steps of the brute force

Job job(double release, double due, double work, double weight = 1) {
  return {0, weight, {{0, {{release, due, {work, work, work, work}}}}}};
}

Instance random_instance(units::Prng& prng, double engines) {
  Instance result{{{0, engines}}, {}};
  const auto count = prng.between(1, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto release = prng.between(0, kSlots - 1);
    const auto due = prng.between(release + 1, kSlots);
    const auto work = prng.between(1, std::min<std::int64_t>(4, due - release));
    result.jobs.push_back(job(static_cast<double>(release), static_cast<double>(due),
                              static_cast<double>(work), static_cast<double>(prng.between(1, 3))));
  }
  return result;
}

// Hands the unit steps of the chosen jobs to free slots within their windows, one job after the
// other, trying every way: a complete search over preemptive schedules.
class Search {
 public:
  Search(const Instance& instance, unsigned chosen) : free_(kSlots, capacity(instance)) {
    for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
      if ((chosen >> i & 1U) != 0) parts_.push_back(instance.jobs[i].options[0].parts[0]);
    }
  }
  bool feasible() {
    return parts_.empty() ||
           place(0, static_cast<int>(parts_[0].release_s), static_cast<int>(parts_[0].need_s[0]));
  }

 private:
  static int capacity(const Instance& instance) {
    return static_cast<int>(instance.groups[0].engines);
  }
  // A job runs on one engine at a time, so it takes a slot once.
  bool place(std::size_t index, int slot, int left) {
    if (left == 0) {
      const std::size_t next = index + 1;
      return next == parts_.size() || place(next, static_cast<int>(parts_[next].release_s),
                                            static_cast<int>(parts_[next].need_s[0]));
    }
    if (slot + left > static_cast<int>(parts_[index].due_s)) return false;
    auto& room = free_[static_cast<std::size_t>(slot)];
    if (room > 0) {
      room -= 1;
      if (place(index, slot + 1, left - 1)) return true;
      room += 1;
    }
    return place(index, slot + 1, left);
  }

  std::vector<Part> parts_;
  std::vector<int> free_;
};

// The largest share of weight of any set of jobs that some schedule completes.
double best_share(const Instance& instance) {
  double best = 0;
  double all = 0;
  for (const Job& each : instance.jobs) all += each.weight;
  for (unsigned chosen = 0; chosen < 1U << instance.jobs.size(); ++chosen) {
    double weight = 0;
    for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
      if ((chosen >> i & 1U) != 0) weight += instance.jobs[i].weight;
    }
    if (weight > best && Search(instance, chosen).feasible()) best = weight;
  }
  return best / all;
}

// No schedule of a small instance keeps more than either bound, and the bounds are in order.
TEST(Bounds, NeverBelowTheBestSchedule) {
  units::Prng prng(1);
  for (int i = 0; i < 3'000; ++i) {
    const Instance instance = random_instance(prng, static_cast<double>(prng.between(1, 2)));
    const Values values = compute(instance);
    ASSERT_GE(values.fluid, best_share(instance) - 1e-9) << "case " << i;
    ASSERT_GE(values.roofline, values.fluid - 1e-9) << "case " << i;
  }
}

// More engines never lower a bound.
TEST(Bounds, MonotoneInCapacity) {
  units::Prng prng(2);
  for (int i = 0; i < 2'000; ++i) {
    Instance instance = random_instance(prng, 1);
    const Values before = compute(instance);
    instance.groups[0].engines = 1.5;
    const Values after = compute(instance);
    ASSERT_GE(after.fluid, before.fluid - 1e-9) << "case " << i;
    ASSERT_GE(after.roofline, before.roofline - 1e-9) << "case " << i;
  }
}

// Equal jobs at twice the capacity: the fluid shedder keeps capacity / load of them.
TEST(Bounds, CapacityOverLoadForEqualJobs) {
  Instance instance{{{0, 1}}, {}};
  for (int i = 0; i < 1'000; ++i) instance.jobs.push_back(job(i, 1'000, 2));
  const Values values = compute(instance);
  EXPECT_NEAR(values.fluid, 0.5, 1e-9);
  EXPECT_NEAR(values.roofline, 0.5, 1e-9);
  EXPECT_NEAR(values.load, 2, 1e-9);
}

// The work due early is limited by the time until then: 1 of the 3 jobs due at 1 fits, and idle
// time afterwards helps none of the others.
TEST(Bounds, FluidSeesDeadlinesThatRooflineDoesNot) {
  Instance instance{{{0, 1}}, {job(0, 1, 1), job(0, 1, 1), job(0, 1, 1), job(0, 10, 1)}};
  const Values values = compute(instance);
  EXPECT_NEAR(values.fluid, 0.5, 1e-9);
  EXPECT_NEAR(values.roofline, 1, 1e-9);
}

// A job that no engine can serve is lost in every bound.
TEST(Bounds, UnservableJobsAreLost) {
  Instance instance{{{0, 1}}, {job(0, 1, 1), {0, 1, {}}}};
  EXPECT_NEAR(compute(instance).roofline, 0.5, 1e-9);
}

// A job with a choice of unequal groups is never charged more than their joint capacity allows: on
// one engine that needs 1 s and one that needs 3 s for a job, 4 jobs of the first 3 seconds fit.
TEST(Bounds, UnequalGroupsAddUp) {
  Instance instance{{{0, 1}, {0, 1}}, {}};
  for (int i = 0; i < 8; ++i) {
    instance.jobs.push_back({0, 1, {{0, {{0, 3, {1, 1, 1, 1}}}}, {1, {{0, 3, {3, 3, 3, 3}}}}}});
  }
  EXPECT_NEAR(compute(instance).fluid, 0.5, 1e-9);
}

}  // namespace
}  // namespace tidegate::bounds
