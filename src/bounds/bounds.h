// Upper bounds on the share of offered promises (attainment_offered) that any policy can keep, also
// one that knows all arrivals, lengths and step times in advance. They are computed beside a
// result, so that a reader sees how far it is from what is possible at all.
//
// roofline >= fluid >= interval_lp >= every policy of the kind that demand.h names. All are
// weighted shares over the jobs of the instance; jobs that no option can serve count as lost. Pure
// functions over values; the same input gives the same numbers.
#pragma once

#include <span>

#include "bounds/demand.h"
#include "bounds/instance.h"

namespace tidegate::bounds {

struct Values {
  double roofline = 1;     // by compute alone, over the whole run
  double fluid = 1;        // by every resource, over every window that begins with the run
  double interval_lp = 1;  // by every resource, over every window
  // Engine-seconds of compute needed over those available, of the busiest model; above 1 not all
  // can be kept.
  double load = 0;
};

// All bounds; 1 for an instance without weight. O(n log n) and some ten seconds of solver at most
// for each model.
// REQUIRES: weights, needs and engines are finite and >= 0; every option's group exists and is of
// its job's model.
Values compute(const Instance& instance);

// The same for instance(requests, engines, setting), one model after the other: takes the memory of
// one model's jobs.
Values compute(std::span<const Offered> requests, std::span<const Engine> engines,
               const Setting& setting);

}  // namespace tidegate::bounds
