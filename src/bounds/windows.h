// Windows of time and what must be done inside them: the limits that every schedule keeps, and a
// search for those that a choice of jobs breaks.
//
// For every window [s, e] of a group of engines, the work whose own window lies inside it is at
// most engines * (e - s). A fluid schedule exists if and only if all these hold (Horn, "Some simple
// scheduling algorithms", 1974; Hall's condition). Pure functions over values.
#pragma once

#include <cstddef>
#include <vector>

#include "bounds/instance.h"

namespace tidegate::bounds {

// Work that must be done between two moments.
struct Load {
  double release_s = 0;
  double due_s = 0;
  double work_s = 0;
};

struct Span {
  double begin_s = 0;
  double end_s = 0;
  double excess_s = 0;  // work inside over capacity * length
};

// Windows that hold more work than capacity * length, the worst of each beginning, at most `most`
// of them, the worst first, and none that mostly repeats a worse one. Empty if and only if there is
// none: then the loads are feasible. O(n log n + n * most).
std::vector<Span> overfull(std::vector<Load> loads, double capacity, std::size_t most);

}  // namespace tidegate::bounds
