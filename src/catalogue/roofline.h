// A step-time law from facts alone, for a GPU and model that nobody measured together (the roofline
// of Williams, Waterman and Patterson, CACM 2009): weights and KV are read at the memory's speed,
// tokens are computed at the arithmetic's, each at a usual share of its peak. Pure.
#pragma once

#include "catalogue/catalogue.h"
#include "domain/engine_spec.h"

namespace tidegate::catalogue {

// REQUIRES: gpu and model are set.
domain::StepCoefficients roofline(const Placement& placement);

}  // namespace tidegate::catalogue
