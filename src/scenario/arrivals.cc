#include "scenario/arrivals.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "workload/trace_reader.h"

namespace tidegate::scenario {
namespace {

using units::Instant;
using units::Nanos;

Nanos divided(Nanos span, double by) {
  return Nanos(std::llround(static_cast<double>(span.value()) / by));
}

// A trace from its `start` on, faster or slower by the rate's scale.
sim::Arrivals replay(const config::ScenarioConfig& config, const config::WorkloadItem& item,
                     std::shared_ptr<const workload::Trace> trace) {
  const RowBinding binding(config, item, trace->names);
  const auto first =
      std::lower_bound(trace->rows.begin(), trace->rows.end(), item.start,
                       [](const auto& row, Nanos start) { return row.arrival < start; });
  auto index = static_cast<std::size_t>(first - trace->rows.begin());
  const Nanos end = item.length ? item.start + *item.length : Nanos::max();
  return [binding, trace, index, end, &item]() mutable -> std::optional<sim::WorldRequest> {
    if (index >= trace->rows.size() || trace->rows[index].arrival >= end) return std::nullopt;
    const workload::TraceRow& row = trace->rows[index++];
    const std::span<const std::uint64_t> ids(trace->hash_ids);
    const Instant arrival = Instant(0) + divided(row.arrival - item.start, item.rate_scale);
    return binding.bind(row, ids.subspan(row.hash_begin, row.hash_count), trace->hash_block_tokens,
                        arrival);
  };
}

// Several streams as one. The next request of each waits here.
class Merged {
 public:
  explicit Merged(std::vector<sim::Arrivals> streams) : streams_(std::move(streams)) {
    for (sim::Arrivals& stream : streams_) heads_.push_back(stream());
  }
  std::optional<sim::WorldRequest> operator()() {
    std::size_t first = heads_.size();
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      if (!heads_[i]) continue;
      if (first == heads_.size() || heads_[i]->request.arrival < heads_[first]->request.arrival) {
        first = i;
      }
    }
    if (first == heads_.size()) return std::nullopt;
    std::optional<sim::WorldRequest> next = std::move(heads_[first]);
    heads_[first] = streams_[first]();
    next->request.id = units::RequestId(++given_);
    return next;
  }

 private:
  std::vector<sim::Arrivals> streams_;
  std::vector<std::optional<sim::WorldRequest>> heads_;
  std::uint64_t given_ = 0;
};

}  // namespace

units::Result<Sources> Sources::open(const config::ScenarioConfig& config) {
  Sources sources(config);
  for (const config::WorkloadItem& item : config.workload) {
    auto trace = workload::read_trace(item.trace);
    if (!trace) return tl::unexpected(trace.error());
    const RowBinding binding(config, item, trace->names);
    if (auto fits = binding.check(*trace); !fits) return tl::unexpected(fits.error());
    sources.traces_.push_back(std::make_shared<const workload::Trace>(std::move(*trace)));
  }
  return sources;
}

sim::Arrivals Sources::arrivals(std::uint64_t seed) const {
  static_cast<void>(seed);
  std::vector<sim::Arrivals> streams;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    streams.push_back(replay(*config_, config_->workload[i], traces_[i]));
  }
  return Merged(std::move(streams));
}

}  // namespace tidegate::scenario
