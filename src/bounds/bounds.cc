#include "bounds/bounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "bounds/fluid.h"

namespace tidegate::bounds {
namespace {

constexpr Resource kAll[] = {Resource::kCompute, Resource::kMemory, Resource::kSeats,
                             Resource::kPace};

// The least of the fluid bounds: each holds by itself.
double fluid_kept(const std::vector<Job>& jobs, const std::vector<Group>& groups) {
  double kept = std::numeric_limits<double>::infinity();
  for (const Resource resource : kAll) kept = std::min(kept, fluid(jobs, groups, resource).kept);
  return kept;
}

}  // namespace

Values compute(const Instance& instance) {
  double offered = 0;
  std::map<std::size_t, std::vector<Job>> by_model;
  for (const Job& job : instance.jobs) {
    offered += job.weight;
    by_model[job.model].push_back(job);
  }
  Values values;
  if (offered <= 0) return values;
  double roofline = 0;
  double poured = 0;
  for (const auto& [model, jobs] : by_model) {
    const Poured compute = knapsack(jobs, instance.groups, Resource::kCompute);
    roofline += compute.kept;
    poured += std::min(compute.kept, fluid_kept(jobs, instance.groups));
    if (compute.available > 0) {
      values.load = std::max(values.load, compute.needed / compute.available);
    }
  }
  values.roofline = std::clamp(roofline / offered, 0.0, 1.0);
  values.fluid = std::clamp(poured / offered, 0.0, values.roofline);
  return values;
}

}  // namespace tidegate::bounds
