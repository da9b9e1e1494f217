#include "workload/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "units/check.h"

namespace tidegate::workload {

namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = shared;
  }
  return ranks;
}

double gap_cv(const Trace& trace) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < trace.rows.size(); ++i) {
    gaps.push_back(
        static_cast<double>((trace.rows[i].arrival - trace.rows[i - 1].arrival).value()));
  }
  const double average = mean(gaps);
  return average > 0 ? std::sqrt(covariance(gaps, gaps)) / average : 0;
}

LengthStatistics describe_lengths(std::vector<double> lengths) {
  std::sort(lengths.begin(), lengths.end());
  return {mean(lengths), quantile(lengths, 0.5), quantile(lengths, 0.9), quantile(lengths, 0.99)};
}

void describe_clients(const Trace& trace, TraceStatistics& s) {
  std::vector<std::size_t> counts(trace.names.size());
  for (const TraceRow& row : trace.rows) ++counts[row.tenant];
  std::sort(counts.begin(), counts.end(), std::greater<>());
  const auto rows = static_cast<double>(trace.rows.size());
  s.top_client = static_cast<double>(counts.front()) / rows;
  counts.resize(std::min<std::size_t>(counts.size(), 10));
  s.top_10_clients =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0})) / rows;
}

double prefix_hits(const Trace& trace) {
  std::unordered_set<std::uint64_t> seen;
  std::int64_t hits = 0;
  std::int64_t tokens = 0;
  for (const TraceRow& row : trace.rows) {
    std::int64_t known = 0;
    bool prefix = true;
    for (std::uint32_t i = 0; i < row.hash_count; ++i) {
      prefix = !seen.insert(trace.hash_ids[row.hash_begin + i]).second && prefix;
      if (prefix) known += trace.hash_block_tokens.value();
    }
    hits += std::min(known, row.input.value());
    tokens += row.input.value();
  }
  return tokens > 0 ? static_cast<double>(hits) / static_cast<double>(tokens) : 0;
}

}  // namespace

double quantile(const std::vector<double>& ascending, double share) {
  TIDEGATE_CHECK(!ascending.empty() && share >= 0 && share <= 1);
  const double position = std::ceil(share * static_cast<double>(ascending.size()));
  return ascending[static_cast<std::size_t>(std::max(position, 1.0)) - 1];
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  TIDEGATE_CHECK(a.size() == b.size());
  if (a.empty()) return 0;
  const auto rank_a = ranks(a);
  const auto rank_b = ranks(b);
  const double scale = std::sqrt(covariance(rank_a, rank_a) * covariance(rank_b, rank_b));
  return scale > 0 ? covariance(rank_a, rank_b) / scale : 0;
}

double dispersion(const Trace& trace, double seconds) {
  if (trace.rows.empty()) return 0;
  const double width = seconds * 1e9;
  const auto window = [&](const TraceRow& row) {
    return static_cast<std::size_t>(static_cast<double>(row.arrival.value()) / width);
  };
  std::vector<double> counts(window(trace.rows.back()));
  if (counts.size() < 2) return 0;
  for (const TraceRow& row : trace.rows) {
    if (window(row) < counts.size()) counts[window(row)] += 1;
  }
  return covariance(counts, counts) / mean(counts);
}

TraceStatistics describe(const Trace& trace) {
  TraceStatistics s;
  s.rows = trace.rows.size();
  if (s.rows < 2) return s;
  std::vector<double> input;
  std::vector<double> output;
  for (const TraceRow& row : trace.rows) {
    input.push_back(static_cast<double>(row.input.value()));
    output.push_back(static_cast<double>(row.output.value()));
  }
  const auto span = static_cast<double>((trace.rows.back().arrival).value()) / 1e9;
  s.requests_per_s = span > 0 ? static_cast<double>(s.rows) / span : 0;
  s.gap_cv = gap_cv(trace);
  s.dispersion_1s = dispersion(trace, 1);
  s.dispersion_10s = dispersion(trace, 10);
  s.dispersion_60s = dispersion(trace, 60);
  s.length_correlation = rank_correlation(input, output);
  s.input = describe_lengths(std::move(input));
  s.output = describe_lengths(std::move(output));
  describe_clients(trace, s);
  s.prefix_hits = prefix_hits(trace);
  return s;
}

}  // namespace tidegate::workload
