// Finds the variability of clients that makes their sum look like a recorded trace, where the trace
// does not say which client sent what: the method of simulated moments (McFadden, 1989) over a
// grid.
#pragma once

#include "workload/profiles.h"
#include "workload/trace.h"

namespace tidegate::tools {

struct Target {
  double gap_cv = 0;         // 0 leaves it out
  double dispersion_1s = 0;  // the same
  double dispersion_10s = 0;
  double dispersion_60s = 0;
  double length_s = 0;
};

Target target_of(const workload::Trace& trace, bool coarse_clock);

// Sets the number of clients, and gap_cv and drift of the profile's kinds, all alike, to where
// generated runs come nearest to the target in the logarithm of each figure; returns that distance
// (root mean square of the logarithms).
double calibrate(workload::Profile& profile, const Target& target);

}  // namespace tidegate::tools
