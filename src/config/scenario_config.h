// The configuration of `tidegate sim`: a pool of GPUs, the models on it, classes, tenants, a
// workload, what breaks and how to run it. Read and validated like a server's (server_config.h):
// every name in it exists, every number is in range, ids are dense and usable as indices. What can
// only be judged with the GPUs' facts (does a model fit?) is left to the room `scenario`, for which
// `where` keeps the place in the file. Plain values; scenarios/ has examples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/server_config.h"
#include "units/quantity.h"
#include "workload/generator.h"

namespace tidegate::config {

struct GpuConfig {
  std::string name;
  std::string catalogue;  // its name in the catalogue
  double price_per_hour = 0;
};

struct PoolEntry {
  std::size_t gpu = 0;  // index into ScenarioConfig::gpus
  std::int64_t count = 0;
  std::string where;
};

struct ScenarioModel {
  units::ModelId id;
  std::string name;
  std::string catalogue;
  bool fp8 = false;
  std::int64_t tensor_parallel = 1;  // GPUs of one engine
  std::int64_t min_replicas = 1;     // engines that it gets whatever the demand
  std::int64_t max_sequences = 256;  // running on one engine
  units::Tokens max_step_tokens{8'192};
  std::string where;
};

// One source of requests: a trace or a generator. What is not named here comes from the rows, and
// what is not there either must leave no choice (the only model) or follows from the tenant (its
// class). Several tenants share a source whose rows name none: its clients or sessions are dealt to
// them in turn.
struct WorkloadItem {
  std::string where;
  std::string trace;                                 // a file that exists; empty: generated
  std::optional<workload::GeneratorSpec> generator;  // its length is the run's, its seed each run's
  std::vector<units::TenantId> tenants;
  std::optional<units::ModelId> model;
  std::optional<units::ClassId> service_class;
  double rate_scale = 1;               // 2: twice the requests per second
  units::Nanos start{0};               // of the trace: what comes before is left out
  std::optional<units::Nanos> length;  // of the trace: what comes after start + length is left out
  units::Tokens max_output{8'192};     // what the callers ask for at most
  std::int64_t retries = 0;            // how often a refused caller asks again
  std::optional<units::Nanos> retry_wait;  // before each; nullopt: as long as the refusal says
};

enum class FaultKind : std::uint8_t { kCrash, kSlow };

// `count` engines (of a type of GPU, or that one engine and its followers) break at `at`.
struct FaultConfig {
  FaultKind kind = FaultKind::kCrash;
  std::optional<std::int64_t> engine;  // position in the list of engines
  std::optional<std::size_t> gpu;      // index into ScenarioConfig::gpus
  std::int64_t count = 1;
  units::Nanos at{0};
  std::optional<units::Nanos> lasts;       // nullopt: to the end
  units::Ppm factor{2 * units::kMillion};  // of the time of its steps, when slow
  std::string where;
};

struct RunSettings {
  units::Nanos length{units::seconds(600)};
  units::Nanos warmup{0};
  std::int64_t seeds = 1;
  std::vector<PolicyName> policies;  // empty: tidegate
  units::Ppm step_noise{20'000};
  units::Nanos dispatch_lag{units::milliseconds(1)};
  units::Nanos telemetry_period{units::milliseconds(100)};
  units::Nanos telemetry_lag{units::milliseconds(5)};
  units::Nanos engine_start{units::seconds(20)};  // of a process, before its weights are read
  std::int64_t load_gb_per_s = 4;                 // weights, from disk to one GPU
  bool known_lengths = false;                     // an oracle tells each output length
  // What the schedulers are made to believe, as multiples of what they would: a forecast of lengths
  // that stays wrong, and a law of step times that is wrong until they have corrected it.
  units::Ppm length_bias{units::kMillion};
  units::Ppm step_time_bias{units::kMillion};
};

struct ScenarioConfig {
  std::string file;
  std::vector<GpuConfig> gpus;
  std::vector<PoolEntry> pool;
  std::vector<ScenarioModel> models;
  std::vector<domain::ServiceClass> classes;
  std::vector<TenantConfig> tenants;
  std::vector<WorkloadItem> workload;
  std::vector<FaultConfig> faults;
  RunSettings run;
};

}  // namespace tidegate::config
