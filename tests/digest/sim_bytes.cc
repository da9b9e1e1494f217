// sim_bytes SCENARIO.yaml...: prints requests of every profile of the generator, and the reports of
// the scenarios under three policies with their bounds. The bytes must not depend on the compiler.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "baselines/registry.h"
#include "config/scenario_load.h"
#include "report/report.h"
#include "scenario/bounds.h"
#include "scenario/prepare.h"
#include "sim/simulator.h"
#include "workload/generator.h"

namespace tidegate {
namespace {

constexpr const char* kPolicies[] = {"tidegate", "vllm-v1/epp", "qoserve"};

void put(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

bool print_arrivals(const std::string& profile) {
  workload::GeneratorSpec spec;
  spec.profile = profile;
  spec.length = units::seconds(120);
  spec.requests_per_s = 20;
  spec.shape.pattern = workload::Pattern::kDiurnal;
  auto generator = workload::Generator::create(spec);
  if (!generator) return false;
  while (const auto row = generator->next()) {
    put(fmt::format("{} {} {} {} {}", row->arrival.value(), row->input.value(), row->output.value(),
                    row->tenant, row->session));
    for (const std::uint64_t id : generator->hash_ids()) put(fmt::format(" {:x}", id));
    put("\n");
  }
  return true;
}

bool print_report(const std::string& path) {
  auto config = config::load_scenario(path, {});
  if (!config) return false;
  const auto prepared = scenario::prepare(std::move(*config));
  if (!prepared) return false;
  report::Report report;
  report.scenario = std::filesystem::path(path).stem().string();
  const report::Bounds bounds =
      scenario::bounds_of(prepared->world_of(1), prepared->sources.arrivals(1));
  for (const char* name : kPolicies) {
    const auto policy = baselines::policy(name);
    sim::World world = prepared->world_of(1);
    world.deciders = {policy->engine, policy->pool, policy->own_batching};
    sim::Simulator simulator(std::move(world), prepared->sources.arrivals(1),
                             prepared->model_names());
    report.runs.push_back(simulator.run());
    report.runs.back().policy = name;
    report.runs.back().bounds = bounds;
  }
  put(report::json(report));
  return true;
}

int print_all(int count, char** paths) {
  for (const std::string& profile : workload::profile_names()) {
    if (!print_arrivals(profile)) return 1;
  }
  for (int i = 0; i < count; ++i) {
    if (!print_report(paths[i])) {
      std::fputs(fmt::format("{} cannot be run\n", paths[i]).c_str(), stderr);
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace tidegate

int main(int argc, char** argv) {
  return tidegate::print_all(argc - 1, argv + 1);
}
