// The clairvoyant interval programme: which jobs, in fractions, can be kept at the most so that no
// window of time is asked for more than it holds.
//
//   maximise   sum of weight_j * x_jo
//   subject to sum over options o of x_jo <= 1                                   for each job j
//              sum of need of (j, o)'s parts inside [s, e] * x_jo <= engines_g * (e - s)
//                                    for each group g, each resource and every window [s, e]
//
// All windows between any release and any due time count, and both orders of fractions are open, so
// this is the tightest bound of its kind: with one part a job it is exactly what a fluid schedule
// attains. Rows are added where a solution breaks them (cutting planes; the search is windows.h).
// From the prices of the rows found the bound is computed anew over all jobs (prices.h), so neither
// the solver's tolerance nor a limit on rows or on columns (crowd.h) can make it too low.
#pragma once

#include <cstddef>
#include <span>

#include "bounds/instance.h"

namespace tidegate::bounds {

struct IntervalOptions {
  std::size_t most_columns = 20'000;  // with more jobs, crowds stand for them
  std::size_t most_rounds = 200;      // of the solver
};

// Weight of the jobs of one model that can be kept at the most.
double interval_lp(std::span<const Job> jobs, std::span<const Group> groups,
                   const IntervalOptions& options = {});

}  // namespace tidegate::bounds
