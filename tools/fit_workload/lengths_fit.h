// Tables of quantiles of token counts, the form in which lengths are shipped. Pure.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "units/prng.h"
#include "workload/lengths.h"

namespace tidegate::tools {

// A token count and its weight.
using Weighted = std::pair<double, double>;

// The quantiles of the counts at the shares that all shipped tables have.
// REQUIRES: some weight above 0.
workload::LengthLaw table_of(std::vector<Weighted> counts);

// The law of two shapes at once: median and sigma of the logarithm from the quartile-like shares
// 10 % and 90 %. REQUIRES: some weight above 0.
struct Lognormal {
  double median = 0;
  double sigma = 0;
};
Lognormal lognormal_of(std::vector<Weighted> values);

// The value below which the share of the weight lies. REQUIRES: sorted, some weight above 0.
double weighted_quantile(const std::vector<Weighted>& sorted, double share);

}  // namespace tidegate::tools
