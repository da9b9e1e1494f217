// The world of a scenario that needs both tiers: the simulator with a whole pool. The settings of
// the script are a scenario file as `tidegate sim` reads it (docs/planner.md); the seeds of its
// `run` are played one after the other and counted together.
#pragma once

#include "course.h"
#include "script.h"

namespace tidegate::scenario::testing {

// Measures of a class or a tenant, by its name as the group, and of everything (group all):
// offered, admitted, completed, shed, failed, residue, kept, missed (admitted and not kept),
// kept_ppm (of the offered), preempted, output (tokens produced), ttft_p50, ttft_p99, tpot_p50,
// tpot_p99, longest_gap_p99.
script::Course play(const script::Script& script);

}  // namespace tidegate::scenario::testing
