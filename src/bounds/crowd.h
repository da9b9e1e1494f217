// Few jobs that stand for many: what makes a programme over a hundred thousand requests small.
//
// Jobs of the same shape (options, parts, length of their windows) that come near each other in
// time and are about as large become one crowd: mean weight and needs, and windows that hold all of
// theirs. Since wider windows only relax the limits, what is optimal for the crowds is near, and
// not below, what is optimal for the jobs. Pure functions over values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bounds/instance.h"

namespace tidegate::bounds {

struct Crowd {
  Job job;  // the mean one
  double count = 1;
};

// About `most` crowds at the most, or the jobs themselves when they are no more. Jobs without
// options or weight are left out. O(n log n).
std::vector<Crowd> crowds(std::span<const Job> jobs, std::size_t most);

}  // namespace tidegate::bounds
