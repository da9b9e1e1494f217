#include "scenario/prepare.h"

#include <utility>

#include "scenario/engine_model.h"

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
    world.engines.push_back(std::move(engine));
  }
  const config::RunSettings& run = config.run;
  world.physics = {run.step_noise, run.dispatch_lag, run.telemetry_period, run.telemetry_lag};
  world.horizon = run.length;
  world.warmup = run.warmup;
  world.known_lengths = run.known_lengths;
  return world;
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
  return Prepared{config, std::move(demands), std::move(*engines), std::move(world),
                  std::move(*sources)};
}

}  // namespace tidegate::scenario
