// The report of a run or a comparison: one schema for simulation, replay and load tests. Plain
// values; json() writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/timeline.h"
#include "report/totals.h"

namespace tidegate::report {

using Group = std::pair<std::string, Totals>;  // name and what it gave

struct Kv {
  std::int64_t capacity_blocks = 0;
  std::int64_t peak_blocks = 0;
  std::int64_t overcommits = 0;  // must be 0
};

// Upper bounds on attainment_offered, where they were computed (docs/bounds.md), and how many times
// as fast the hardware would have to be for the policy to attain the lowest of them.
struct Bounds {
  std::optional<double> roofline;
  std::optional<double> fluid;
  std::optional<double> interval_lp;
  std::optional<double> speed_factor;  // >= 1
};

// How far apart tenants were served that waited at the same time, in seconds of engine time over
// weight, and how far a policy's theory lets them be.
struct Fairness {
  std::optional<double> max_service_gap;
  std::optional<double> bound;
};

struct Run {
  std::uint64_t seed = 0;
  std::string policy;
  std::vector<std::string> oracles{};  // what it knew that no real one does: lengths, times
  double load = 1;                     // offered, as a multiple of the scenario's own rate
  std::string digest;                  // of the decision sequence, hexadecimal
  double simulated_seconds = 0;
  double wall_seconds = 0;
  std::int64_t decisions = 0;
  Histogram decision_time;
  std::int64_t engine_steps = 0;
  Totals totals;
  std::vector<Group> by_class, by_tenant, by_model, by_gpu;
  Kv kv;
  Fairness fairness;
  Bounds bounds;
  double utilisation = 0;  // of engine time, 0..1
  Timeline timeline;
};

// What a class promises, to draw beside what it got.
struct ClassPromise {
  std::string name;
  std::optional<units::Nanos> ttft;
  std::optional<units::Nanos> tpot;
  std::optional<units::Nanos> deadline;
};

struct Report {
  std::string tidegate_version;
  std::string scenario;
  std::vector<Run> runs;
  std::vector<ClassPromise> promises{};
};

inline constexpr int kSchemaVersion = 1;

// The report as one line of JSON with a line end.
std::string json(const Report& report);

}  // namespace tidegate::report
