// A bound from prices, whatever the prices are: the Lagrangian of the interval programme.
//
// Put a price >= 0 on the capacity of some windows. Whoever keeps a set of jobs gets their weights,
// pays for what they use and sells what is left; without limits the best is to keep each job that
// is worth more than it costs, by its cheapest option. Since a real schedule overfills no window,
// its weight is at most that (weak duality). Good prices come from a solver; bad ones only make the
// bound loose, never wrong.
#pragma once

#include <span>
#include <vector>

#include "bounds/instance.h"

namespace tidegate::bounds {

struct PricedWindow {
  std::size_t group = 0;
  Resource resource = Resource::kCompute;
  double begin_s = 0;
  double end_s = 0;
  double price = 0;  // weight for all of the window's capacity
};

// What of the option's need of the window's resource lies inside the window, as a share of its
// capacity. 0 when the option is of another group.
double share_inside(const Option& option, const PricedWindow& window, double engines);

// The most weight of `jobs` that any schedule keeps, by these prices. O(parts * windows).
double weight_at_prices(std::span<const Job> jobs, std::span<const Group> groups,
                        const std::vector<PricedWindow>& windows);

}  // namespace tidegate::bounds
