// Where traces are looked for beside the scenario's own folder.
#pragma once

#include "config/scenario_load.h"

namespace tidegate::app {

// TIDEGATE_DATA when it is set, then ../shared/data.
config::DataFolders data_folders();

}  // namespace tidegate::app
