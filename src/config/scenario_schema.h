// The sections that only a scenario has, one reader each; schema.h has those that it shares with a
// server. Every reader reports what it finds wrong and returns what could be read.
#pragma once

#include <string>

#include "config/scenario_config.h"
#include "config/scenario_load.h"
#include "config/section.h"

namespace tidegate::config {

// `gpus` and `pool`. A pool may also name GPUs of the catalogue directly.
void read_pool(Section& root, ScenarioConfig& config);
void read_scenario_models(Section& root, ScenarioConfig& config);
// REQUIRES: tenants, models and classes were read.
void read_workload(Section& root, const DataFolders& folders, ScenarioConfig& config);
// The keys of an entry `generator: servegen`. REQUIRES: models and classes were read.
workload::GeneratorSpec read_generator(Section& section, const ScenarioConfig& config);
// REQUIRES: the pool was read.
void read_faults(Section& root, ScenarioConfig& config);
RunSettings read_run(Section& root);

}  // namespace tidegate::config
