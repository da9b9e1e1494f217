#include "bounds/bounds.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "bounds/fluid.h"
#include "bounds/interval_lp.h"

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

// Weight that can be kept, summed over models.
class Sum {
 public:
  void add_model(const std::vector<Job>& jobs, const std::vector<Group>& groups) {
    for (const Job& job : jobs) offered_ += job.weight;
    const Poured compute = knapsack(jobs, groups, Resource::kCompute);
    roofline_ += compute.kept;
    const double poured = std::min(compute.kept, fluid_kept(jobs, groups));
    fluid_ += poured;
    interval_lp_ += std::min(poured, interval_lp(jobs, groups));
    if (compute.available > 0) load_ = std::max(load_, compute.needed / compute.available);
  }

  Values values() const {
    Values values;
    values.load = load_;
    if (offered_ <= 0) return values;
    values.roofline = std::clamp(roofline_ / offered_, 0.0, 1.0);
    values.fluid = std::clamp(fluid_ / offered_, 0.0, values.roofline);
    values.interval_lp = std::clamp(interval_lp_ / offered_, 0.0, values.fluid);
    return values;
  }

 private:
  double offered_ = 0;
  double roofline_ = 0;
  double fluid_ = 0;
  double interval_lp_ = 0;
  double load_ = 0;
};

}  // namespace

Values compute(const Instance& instance) {
  std::map<std::size_t, std::vector<Job>> by_model;
  for (const Job& job : instance.jobs) by_model[job.model].push_back(job);
  Sum sum;
  for (const auto& [model, jobs] : by_model) sum.add_model(jobs, instance.groups);
  return sum.values();
}

Values compute(std::span<const Offered> requests, std::span<const Engine> engines,
               const Setting& setting) {
  std::map<units::ModelId, std::vector<Offered>> by_model;
  for (const Offered& each : requests) {
    if (each.weight > 0) by_model[each.model].push_back(each);
  }
  Sum sum;
  for (const auto& [model, own] : by_model) {
    std::vector<Engine> fitting;
    for (const Engine& engine : engines) {
      if (engine.model == model) fitting.push_back(engine);
    }
    const Instance made = instance(own, fitting, setting);
    sum.add_model(made.jobs, made.groups);
  }
  return sum.values();
}

}  // namespace tidegate::bounds
