// What no policy can exceed in a world: the bounds of the room `bounds` for the requests that come
// to it and the engines that it has.
#pragma once

#include "bounds/bounds.h"
#include "report/report.h"
#include "sim/world.h"

namespace tidegate::scenario {

// Upper bounds on the report's attainment_offered for a run of this world with these arrivals,
// whatever decides in it. Requests of the warm-up weigh nothing. Engines count as up and at full
// speed all the time: faults only make less possible. Deterministic. Memory and time grow with the
// number of requests, n: O(n log n).
report::Bounds bounds_of(const sim::World& world, const sim::Arrivals& arrivals);

}  // namespace tidegate::scenario
