// The world that a simulation runs: engines with the truth about their speed, requests with the
// truth about their length, and the physics between them. The schedulers see none of the truths,
// only what a real pool would see. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch_config.h"
#include "batch/step_policy.h"
#include "domain/engine_spec.h"
#include "domain/request.h"
#include "pool/config.h"
#include "pool/scheduler.h"
#include "units/quantity.h"

namespace tidegate::sim {

struct EngineModel {
  batch::BatchConfig batch;           // what the schedulers believe; batch.spec joins the pool
  domain::StepCoefficients true_law;  // what its steps really take, before noise
  std::string gpu;                    // a name for the report
};

// What a caller does that is refused for want of room: it asks again, as a new request with a
// promise of its own. Who is told that asking again will not help gives up.
struct Retries {
  std::int64_t most = 0;             // tries after the first
  std::optional<units::Nanos> wait;  // before each; nullopt: as long as the refusal says
};

// A request as the world knows it.
struct WorldRequest {
  domain::Request request;  // as it arrives; its output forecast is filled in at arrival
  units::Tokens output{0};  // what it will really produce, at most request.footprint.max_output
  units::Instant leaves = units::Instant::never();  // the caller hangs up
  Retries retries{};
};

// Gives the requests in order of arrival, one at a time, so that memory stays flat however long a
// run is; nothing at the end.
using Arrivals = std::function<std::optional<WorldRequest>()>;

struct Physics {
  // A step takes its law times 1 +- up to this, uniformly: what a law leaves unexplained.
  units::Ppm step_noise{0};
  units::Nanos dispatch_lag{0};  // from a decision to the engine
  units::Nanos telemetry_period = units::milliseconds(50);
  units::Nanos telemetry_lag{0};  // age of a state report when the pool sees it
};

// What goes wrong with one engine. A crash loses every try on it; the pool hears of it when
// telemetry would tell, and again when the engine is back, empty and in a new life.
struct Fault {
  std::size_t engine = 0;
  bool crash = true;  // false: its steps take `slowdown` times as long
  units::Ppm slowdown{units::kMillion};
  units::Instant from;
  units::Instant until = units::Instant::never();  // it works again, start included
};

// Who decides: empty ones are the production schedulers; baselines::policy() gives those of other
// projects.
struct Deciders {
  batch::StepPolicyFactory engine;
  pool::SchedulerFactory pool;
  bool own_batching = true;  // engines batch by tier and due times: EngineSpec::own_batching
};

struct World {
  Deciders deciders;
  pool::PoolConfig pool;
  std::vector<EngineModel> engines;  // engine ids are positions in this list
  std::vector<Fault> faults;
  Physics physics;
  std::uint64_t seed = 1;
  units::Nanos horizon{0};     // arrivals stop and the clock stops here; what is alive is residue
  units::Nanos warmup{0};      // requests that arrive before this are not counted
  bool known_lengths = false;  // forecasts are the truth, but for length_bias
  // Forecasts of output lengths say this many times what they would: predictions that are wrong.
  units::Ppm length_bias{units::kMillion};
};

}  // namespace tidegate::sim
