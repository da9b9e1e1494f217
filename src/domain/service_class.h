// A service class: the latency promise that its requests carry. Plain configuration value.
#pragma once

#include <optional>
#include <string>

#include "units/ids.h"
#include "units/quantity.h"

namespace tidegate::domain {

struct ServiceClass {
  units::ClassId id;
  std::string name;
  std::optional<units::Nanos> ttft;      // time to first token
  std::optional<units::Nanos> tpot;      // time per output token after the first
  std::optional<units::Nanos> deadline;  // all of it, instead of ttft and tpot
  units::Ppm percentile{990'000};        // the share of requests that must keep the promise
  bool best_effort = false;
};

}  // namespace tidegate::domain
