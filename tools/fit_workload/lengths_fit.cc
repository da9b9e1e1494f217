#include "lengths_fit.h"

#include <algorithm>
#include <cmath>

namespace tidegate::tools {

double weighted_quantile(const std::vector<Weighted>& sorted, double share) {
  double total = 0;
  for (const auto& [value, weight] : sorted) total += weight;
  double below = 0;
  for (const auto& [value, weight] : sorted) {
    below += weight;
    if (below >= share * total) return value;
  }
  return sorted.back().first;
}

workload::LengthLaw table_of(std::vector<Weighted> counts) {
  std::sort(counts.begin(), counts.end());
  workload::LengthLaw law;
  law.kind = workload::LengthKind::kTable;
  law.low = units::Tokens(0);
  law.high = units::Tokens(100'000'000);
  for (const double share : {0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95,
                             0.98, 0.99, 0.999, 1.0}) {
    law.table.push_back({share, std::round(weighted_quantile(counts, share))});
  }
  return law;
}

Lognormal lognormal_of(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end());
  const double low = std::max(weighted_quantile(values, 0.1), 1e-3);
  const double high = std::max(weighted_quantile(values, 0.9), low);
  constexpr double kTwoDeciles = 2 * 1.2815515655446004;
  return {weighted_quantile(values, 0.5), std::log(high / low) / kTwoDeciles};
}

}  // namespace tidegate::tools
