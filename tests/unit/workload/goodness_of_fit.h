// Tests of whether numbers follow a law.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tidegate::workload {

// Kolmogorov's statistic times the root of the sample size; below kKolmogorovLimit with
// probability 0.999 when the values come from the law with the distribution function `below`.
inline constexpr double kKolmogorovLimit = 1.95;

template <class Below>
double kolmogorov(std::vector<double> values, Below below) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = below(values[i]);
    const auto rank = static_cast<double>(i);
    most = std::max({most, expected - rank / n, (rank + 1) / n - expected});
  }
  return most * std::sqrt(n);
}

inline double exponential_below(double x) {
  return 1 - std::exp(-x);
}

}  // namespace tidegate::workload
