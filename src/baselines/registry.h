// The policies by name. A name is ENGINE or ENGINE/PLACEMENT, such as "vllm-v1" or
// "vllm-v1/least-kv"; without a placement an engine policy gets the one that its project ships.
// "tidegate" on either side is the house's own. A placement alone, such as "epp", stands in front
// of vllm-v1. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batch/step_policy.h"
#include "pool/scheduler.h"
#include "units/result.h"

namespace tidegate::baselines {

struct Policy {
  std::string name;                 // in full: ENGINE/PLACEMENT
  batch::StepPolicyFactory engine;  // empty: the house's own
  pool::SchedulerFactory pool;      // (the same)
  // The engines take tier and due times, and batch by them: EngineSpec::own_batching.
  bool own_batching = true;
};

// Error: which part of the name is unknown, and what was meant or is known.
units::Result<Policy> policy(std::string_view name);

// Every name that may stand on the left, and on the right, of the slash.
std::vector<std::string> engine_names();
std::vector<std::string> placement_names();

}  // namespace tidegate::baselines
