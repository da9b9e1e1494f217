#include "bounds/prices.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tidegate::bounds {
namespace {

// What a second of the window's resource costs in each window of a group, priced ones only.
struct Tariff {
  std::size_t resource = 0;
  double begin_s = 0;
  double end_s = 0;
  double per_second = 0;
};

double cost(const Option& option, const std::vector<Tariff>& tariffs) {
  double sum = 0;
  for (const Part& part : option.parts) {
    for (const Tariff& t : tariffs) {
      if (part.release_s < t.begin_s || part.due_s > t.end_s) continue;
      sum += part.need_s[t.resource] * t.per_second;
    }
  }
  return sum;
}

}  // namespace

double share_inside(const Option& option, const PricedWindow& window, double engines) {
  if (option.group != window.group) return 0;
  double inside = 0;
  for (const Part& part : option.parts) {
    if (part.release_s < window.begin_s || part.due_s > window.end_s) continue;
    inside += part.need_s[static_cast<std::size_t>(window.resource)];
  }
  return inside / (engines * (window.end_s - window.begin_s));
}

double weight_at_prices(std::span<const Job> jobs, std::span<const Group> groups,
                        const std::vector<PricedWindow>& windows) {
  double sum = 0;
  std::vector<std::vector<Tariff>> by_group(groups.size());
  for (const PricedWindow& window : windows) {
    if (window.price <= 0) continue;
    sum += window.price;
    const double capacity = groups[window.group].engines * (window.end_s - window.begin_s);
    by_group[window.group].push_back({static_cast<std::size_t>(window.resource), window.begin_s,
                                      window.end_s, window.price / capacity});
  }
  for (const Job& job : jobs) {
    double least = std::numeric_limits<double>::infinity();
    for (const Option& option : job.options) {
      least = std::min(least, cost(option, by_group[option.group]));
    }
    sum += std::max(0.0, job.weight - least);
  }
  return sum;
}

}  // namespace tidegate::bounds
