#include "bounds/fluid.h"

#include <gtest/gtest.h>

#include "bounds/bounds.h"
#include "small_instance.h"
#include "units/prng.h"

namespace tidegate::bounds {
namespace {

// No schedule of a small instance keeps more than either bound, and the bounds are in order.
TEST(Bounds, NeverBelowTheBestSchedule) {
  units::Prng prng(1);
  for (int i = 0; i < 3'000; ++i) {
    const Instance instance = random_instance(prng, static_cast<double>(prng.between(1, 2)));
    const Values values = compute(instance);
    ASSERT_GE(values.interval_lp, best_share(instance) - 1e-9) << "case " << i;
    ASSERT_GE(values.fluid, values.interval_lp - 1e-9) << "case " << i;
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
