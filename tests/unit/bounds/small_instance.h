// Instances that are small enough to try every schedule.
#pragma once

#include "bounds/instance.h"
#include "units/prng.h"

namespace tidegate::bounds {

inline constexpr int kSlots = 10;  // unit steps of the brute force

// One part that needs as much of every resource.
Job job(double release, double due, double work, double weight = 1);

// Up to six jobs of integer windows, work and weight on one group.
Instance random_instance(units::Prng& prng, double engines);

// The largest share of weight of any set of jobs that some schedule completes: tries every set and
// every way to hand unit steps to free slots.
double best_share(const Instance& instance);

}  // namespace tidegate::bounds
