// The simulator against queueing theory: with one sequence at a time, one output token and no
// promises, an engine is a single-server queue, and its mean wait has a closed form.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>

#include "cost/length_forecast.h"
#include "sim/simulator.h"

namespace tidegate::sim {
namespace {

using units::Instant;
using units::Nanos;
using units::Tokens;

constexpr Nanos kService = units::milliseconds(10);

// A law under which a prompt of p tokens takes p milliseconds and nothing else costs anything.
World single_server(std::uint64_t seed) {
  World world;
  world.seed = seed;
  domain::ServiceClass batch;
  batch.name = "batch";
  batch.best_effort = true;
  world.pool.classes = {batch};
  domain::Tenant tenant;
  tenant.name = "all";
  world.pool.tenants = {tenant};
  world.pool.models = {units::ModelId(0)};
  EngineModel engine;
  engine.gpu = "server";
  engine.true_law.per_token_fs = {1'000'000'000'000, 1'000'000'000'000, 1'000'000'000'000};
  auto& spec = engine.batch.spec;
  spec.law = engine.true_law;
  spec.calibrated = true;
  spec.limits = {units::Blocks(1'000), 1, Tokens(4'096), Tokens(4'096)};
  engine.batch.retained_slots = 0;
  engine.batch.default_step_budget = units::seconds(10);
  world.engines = {engine};
  return world;
}

// Poisson arrivals of prompts whose length is drawn by `draw`, one output token each.
template <class Draw>
Arrivals poisson(std::uint64_t seed, Nanos mean_gap, Draw draw) {
  auto prng = std::make_shared<units::Prng>(seed);
  auto at = std::make_shared<Instant>();
  auto id = std::make_shared<std::uint64_t>(0);
  return [=]() -> std::optional<WorldRequest> {
    const double u = (static_cast<double>(prng->next() >> 11) + 0.5) / 9007199254740992.0;
    *at = *at + Nanos(std::llround(-std::log(u) * static_cast<double>(mean_gap.value())));
    WorldRequest next;
    next.request.id = units::RequestId(++*id);
    next.request.arrival = *at;
    next.request.footprint.prompt = draw(*prng);
    next.request.footprint.max_output = Tokens(1);
    next.output = Tokens(1);
    return next;
  };
}

double mean_wait_ms(World world, const std::function<Arrivals(std::uint64_t)>& arrivals,
                    int seeds) {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    world.seed = static_cast<std::uint64_t>(seed);
    double waited = 0;
    std::int64_t served = 0;
    Simulator simulator(world, arrivals(world.seed), {"m"});
    std::map<units::RequestId, Instant> arrived;
    simulator.observe(
        [&](const auto&, const domain::Event& event, const auto& decisions, Instant now) {
          if (const auto* a = std::get_if<domain::Arrived>(&event)) arrived[a->request.id] = now;
          for (const domain::Decision& decision : decisions) {
            if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
              waited += static_cast<double>((now - arrived.at(assign->ref.request)).value()) / 1e6;
              served += 1;
              arrived.erase(assign->ref.request);
            }
          }
        });
    simulator.run();
    sum += waited / static_cast<double>(served);
  }
  return sum / seeds;
}

// M/D/1: mean wait = rho / (2 (1 - rho)) x service (Pollaczek-Khinchine), within 1 % over seeds.
TEST(QueueingTheory, DeterministicServiceWaitsAsMD1) {
  World world = single_server(1);
  world.horizon = units::seconds(3'000);
  const double rho = 0.7;
  const Nanos gap(std::llround(static_cast<double>(kService.value()) / rho));
  const auto arrivals = [&](std::uint64_t seed) {
    return poisson(seed * 77, gap, [](units::Prng&) { return Tokens(10); });
  };
  const double expected = rho / (2 * (1 - rho)) * 10.0;
  EXPECT_NEAR(mean_wait_ms(world, arrivals, 4), expected, expected * 0.01);
}

}  // namespace
}  // namespace tidegate::sim
