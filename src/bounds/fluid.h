// The two bounds that need no solver. Both pour work like a liquid: fractions of jobs are kept, the
// cheapest for their weight first.
//
// A job on one of several groups is counted by a surrogate: with any factor f_g >= 0 for each
// group, the least f_g * need over its options is no more than what it takes of
// sum of f_g * engines_g (here f_g makes the groups' mean needs equal). A knapsack with a
// fraction is Dantzig's (1957); with limits on the work that is due by each instant the limits are
// nested, so taking by weight/work stays optimal (Edmonds 1970), and one sweep by deadline that
// evicts the worst on overflow finds it (Moore 1968, in fractions). Pure functions.
#pragma once

#include <span>

#include "bounds/instance.h"

namespace tidegate::bounds {

struct Poured {
  double kept = 0;    // weight
  double needed = 0;  // surrogate seconds of all jobs that have an option
  double available = 0;
};

// Of the jobs of one model: by one resource, over one window that spans all of theirs.
// O(n log n), as is the next.
Poured knapsack(std::span<const Job> jobs, std::span<const Group> groups, Resource resource);

// By one resource, over every window from the first release to some due time.
Poured fluid(std::span<const Job> jobs, std::span<const Group> groups, Resource resource);

}  // namespace tidegate::bounds
