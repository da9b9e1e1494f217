#include "scenario/bounds.h"

#include <vector>

namespace tidegate::scenario {
namespace {

std::vector<bounds::Offered> offered(const sim::World& world, const sim::Arrivals& arrivals) {
  const units::Instant warm = units::Instant(0) + world.warmup;
  const units::Instant end = units::Instant(0) + world.horizon;
  bounds::PromptOwners owners;
  std::vector<bounds::Offered> all;
  for (auto next = arrivals(); next && next->request.arrival <= end; next = arrivals()) {
    const domain::Request& request = next->request;
    bounds::Offered each;
    each.model = request.model;
    each.arrival = request.arrival;
    each.promise = request.promise;
    each.prompt = request.footprint.prompt;
    each.shared_blocks = owners.shared_blocks(request);
    each.output = next->output;
    each.leaves = next->leaves;
    if (request.arrival >= warm) all.push_back(each);
  }
  return all;
}

std::vector<bounds::Engine> engines(const sim::World& world) {
  std::vector<bounds::Engine> all;
  for (const sim::EngineModel& model : world.engines) {
    all.push_back(model.batch.spec);
    all.back().law = model.true_law;
  }
  return all;
}

}  // namespace

report::Bounds bounds_of(const sim::World& world, const sim::Arrivals& arrivals) {
  const bounds::Setting setting{world.physics.step_noise, units::Instant(0) + world.horizon};
  const auto values = bounds::compute(offered(world, arrivals), engines(world), setting);
  return {values.roofline, values.fluid, values.interval_lp, std::nullopt};
}

}  // namespace tidegate::scenario
