// Upper bounds on the share of offered promises (attainment_offered) that any policy can keep, also
// one that knows all arrivals, lengths and step times in advance. They are computed beside every
// result, so that a reader sees how far it is from what is possible at all.
//
// Each bound relaxes the one below it: roofline >= fluid >= interval_lp >= every policy. All are
// weighted shares over the jobs of the instance; jobs that no option can serve count as lost. Pure
// functions over values; the same input gives the same numbers. docs/bounds.md explains them.
#pragma once

#include <cstddef>

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

struct Effort {
  // More jobs than this (a model) are gathered into this many or fewer to find the prices of the
  // windows; the bound is then evaluated with every single job.
  std::size_t clusters = 2'000;
  // Instants at which a window may begin or end; all of them when there are no more than this.
  std::size_t grid = 512;
  int rounds = 60;  // of adding windows that are overfull
};

// All bounds. 1 everywhere for an instance without jobs. Memory O(jobs + grid^2).
// REQUIRES: weights, needs and engines are finite and >= 0; every option's group exists and is of
// its job's model.
Values compute(const Instance& instance, const Effort& effort = {});

}  // namespace tidegate::bounds
