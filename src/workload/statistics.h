// What describes a trace: lengths, how uneven arrivals and clients are, how much of the prompts was
// seen before. The fit compares a trace with what is generated in its place by these. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/trace.h"

namespace tidegate::workload {

struct LengthStatistics {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct TraceStatistics {
  std::size_t rows = 0;
  double requests_per_s = 0;
  double gap_cv = 0;  // deviation over mean of the gaps between arrivals
  // Variance over mean of the arrivals in windows of 1, 10 and 60 s: 1 at every width is Poisson.
  double dispersion_1s = 0;
  double dispersion_10s = 0;
  double dispersion_60s = 0;
  LengthStatistics input;
  LengthStatistics output;
  double length_correlation = 0;  // Spearman's, of input and output
  double top_client = 0;          // share of the rows of the largest tenant, and of the ten largest
  double top_10_clients = 0;
  double prefix_hits = 0;  // share of the input tokens in blocks seen before, in an endless cache
};

// O(rows log rows + hash ids). All 0 for fewer than two rows.
TraceStatistics describe(const Trace& trace);

// Variance over mean of the arrivals in whole windows of `seconds`; 0 with fewer than two windows.
double dispersion(const Trace& trace, double seconds);
// Spearman's rank correlation; ties share their mean rank. 0 where one side is constant.
// REQUIRES: equal sizes.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);
// The smallest value that at least the given share of the values is at most. REQUIRES: ascending,
// not empty, 0 <= share <= 1.
double quantile(const std::vector<double>& ascending, double share);

}  // namespace tidegate::workload
