#include "scenario/prepare.h"

#include <fmt/format.h>

#include <utility>

#include "scenario/engine_model.h"
#include "sim/speed.h"

namespace tidegate::scenario {
namespace {

constexpr std::int64_t kMostRequests = 32'768;
constexpr std::int64_t kMostQueued = 16'384;

pool::PoolConfig pool_config(const config::ScenarioConfig& config, std::size_t engines) {
  pool::PoolConfig pool;
  pool.classes = config.classes;
  for (const config::TenantConfig& tenant : config.tenants) pool.tenants.push_back(tenant.values);
  for (const config::ScenarioModel& model : config.models) pool.models.push_back(model.id);
  pool.limits.max_requests = kMostRequests;
  pool.limits.max_queued = kMostQueued;
  pool.limits.max_engines = static_cast<std::int64_t>(engines);
  return pool;
}

sim::World world_from(const config::ScenarioConfig& config,
                      const std::vector<PlacedEngine>& placed) {
  sim::World world;
  world.pool = pool_config(config, placed.size());
  for (const PlacedEngine& each : placed) {
    sim::EngineModel engine = *engine_model(config, each.model, each.gpu);
    engine.batch.spec.id = units::EngineId(world.engines.size());
    engine.batch.spec.law = sim::stretched(engine.true_law, config.run.step_time_bias);
    world.engines.push_back(std::move(engine));
  }
  const config::RunSettings& run = config.run;
  world.physics = {run.step_noise, run.dispatch_lag, run.telemetry_period, run.telemetry_lag};
  world.horizon = run.length;
  world.warmup = run.warmup;
  world.known_lengths = run.known_lengths;
  world.length_bias = run.length_bias;
  return world;
}

// The engines that a fault means, by their ids; fewer than it counts when there are not so many.
std::vector<std::size_t> broken_engines(const config::FaultConfig& fault,
                                        const std::vector<PlacedEngine>& placed) {
  std::vector<std::size_t> broken;
  const auto first = static_cast<std::size_t>(fault.engine.value_or(0));
  for (std::size_t i = first; i < placed.size(); ++i) {
    if (fault.gpu && placed[i].gpu != *fault.gpu) continue;
    if (static_cast<std::int64_t>(broken.size()) == fault.count) break;
    broken.push_back(i);
  }
  return broken;
}

units::Error too_few_engines(const config::FaultConfig& fault, std::size_t found,
                             std::size_t engines) {
  return {fault.where,
          fmt::format("the fault wants {} engine(s) and finds {} among the engines 0 to {}; lower "
                      "'count' or name another engine or GPU",
                      fault.count, found, engines - 1)};
}

// Lays the faults over the engines. A crashed engine comes back after its repair and its start.
units::Result<void> add_faults(const config::ScenarioConfig& config,
                               const std::vector<PlacedEngine>& placed, sim::World& world) {
  for (const config::FaultConfig& fault : config.faults) {
    const auto broken = broken_engines(fault, placed);
    if (static_cast<std::int64_t>(broken.size()) < fault.count) {
      return tl::unexpected(too_few_engines(fault, broken.size(), placed.size()));
    }
    for (const std::size_t engine : broken) {
      sim::Fault each;
      each.engine = engine;
      each.crash = fault.kind == config::FaultKind::kCrash;
      each.slowdown = fault.factor;
      each.from = units::Instant(0) + fault.at;
      const units::Nanos start =
          each.crash ? start_time(config, placed[engine].model) : units::Nanos(0);
      if (fault.lasts) each.until = each.from + *fault.lasts + start;
      world.faults.push_back(each);
    }
  }
  return {};
}

}  // namespace

sim::World Prepared::world_of(std::uint64_t seed) const {
  sim::World own = world;
  own.seed = seed;
  own.pool.seed = seed;
  return own;
}

std::vector<std::string> Prepared::model_names() const {
  std::vector<std::string> names;
  for (const config::ScenarioModel& model : config->models) names.push_back(model.name);
  return names;
}

tl::expected<Prepared, config::LoadErrors> prepare(config::ScenarioConfig given) {
  const auto config = std::make_shared<const config::ScenarioConfig>(std::move(given));
  auto sources = Sources::open(*config);
  if (!sources) return tl::unexpected(config::LoadErrors{sources.error()});
  std::vector<Demand> demands =
      measure(sources->arrivals(1), config->models.size(), config->run.length);
  auto engines = place(*config, demands);
  if (!engines) return tl::unexpected(engines.error());
  sim::World world = world_from(*config, *engines);
  if (auto laid = add_faults(*config, *engines, world); !laid) {
    return tl::unexpected(config::LoadErrors{laid.error()});
  }
  return Prepared{config, std::move(demands), std::move(*engines), std::move(world),
                  std::move(*sources)};
}

}  // namespace tidegate::scenario
