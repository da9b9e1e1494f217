#include "scenario/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "units/check.h"
#include "workload/generator.h"
#include "workload/trace_reader.h"

namespace tidegate::scenario {
namespace {

using units::Instant;
using units::Nanos;

Nanos divided(Nanos span, double by) {
  return Nanos(std::llround(static_cast<double>(span.value()) / by));
}

workload::GeneratorSpec spec_of(const config::ScenarioConfig& config,
                                const config::WorkloadItem& item) {
  workload::GeneratorSpec spec = *item.generator;
  spec.length = divided(config.run.length, 1 / item.rate_scale);
  return spec;
}

// A trace from its `start` on, faster or slower by the rate's scale.
sim::Arrivals replay(const config::ScenarioConfig& config, const config::WorkloadItem& item,
                     const std::shared_ptr<const workload::Trace>& trace, double load) {
  const double scale = item.rate_scale * load;
  const RowBinding binding(config, item, trace->names);
  const auto first =
      std::lower_bound(trace->rows.begin(), trace->rows.end(), item.start,
                       [](const auto& row, Nanos start) { return row.arrival < start; });
  auto index = static_cast<std::size_t>(first - trace->rows.begin());
  const Nanos end = item.length ? item.start + *item.length : Nanos::max();
  return [binding, trace, index, end, start = item.start,
          scale]() mutable -> std::optional<sim::WorldRequest> {
    if (index >= trace->rows.size() || trace->rows[index].arrival >= end) return std::nullopt;
    const workload::TraceRow& row = trace->rows[index++];
    const std::span<const std::uint64_t> ids(trace->hash_ids);
    const Instant arrival = Instant(0) + divided(row.arrival - start, scale);
    return binding.bind(row, ids.subspan(row.hash_begin, row.hash_count), trace->hash_block_tokens,
                        arrival);
  };
}

// A generator of its own for this run. REQUIRES: the spec was checked when the sources were opened.
sim::Arrivals generate(const config::ScenarioConfig& config, const config::WorkloadItem& item,
                       std::uint64_t seed, double load) {
  workload::GeneratorSpec spec = spec_of(config, item);
  spec.seed = seed;
  spec.load = load;
  auto made = workload::Generator::create(spec);
  TIDEGATE_CHECK(made.has_value());
  const auto generator = std::make_shared<workload::Generator>(std::move(*made));
  const RowBinding binding(config, item, generator->names());
  const double scale = item.rate_scale;
  return
      [generator, binding, scale, block = spec.hash_block]() -> std::optional<sim::WorldRequest> {
        const auto row = generator->next();
        if (!row) return std::nullopt;
        const Instant arrival = Instant(0) + divided(row->arrival, scale);
        return binding.bind(*row, generator->hash_ids(), block, arrival);
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
    if (item.generator) {
      const auto made = workload::Generator::create(spec_of(config, item));
      if (!made) return units::error(item.where, made.error().where + ": " + made.error().message);
      sources.traces_.push_back(nullptr);
      continue;
    }
    auto trace = workload::read_trace(item.trace);
    if (!trace) return tl::unexpected(trace.error());
    const RowBinding binding(config, item, trace->names);
    if (auto fits = binding.check(*trace); !fits) return tl::unexpected(fits.error());
    sources.traces_.push_back(std::make_shared<const workload::Trace>(std::move(*trace)));
  }
  return sources;
}

units::Result<void> Sources::last_for_the_run(double load) const {
  const Nanos needed = config_->run.length;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const config::WorkloadItem& item = config_->workload[i];
    if (!traces_[i] || traces_[i]->rows.empty()) continue;
    const Nanos rest = traces_[i]->rows.back().arrival - item.start;
    const Nanos given = item.length ? std::min(rest, *item.length) : rest;
    if (divided(given, item.rate_scale) < needed) continue;  // a burst, by the scenario's own will
    const Nanos lasts = divided(given, item.rate_scale * load);
    if (lasts >= needed) continue;
    return units::error(item.where,
                        fmt::format("at load {:g} the trace lasts for {:.0f} s of the run's {:.0f} "
                                    "s; shorten the run or give a longer trace",
                                    load, static_cast<double>(lasts.value()) / 1e9,
                                    static_cast<double>(needed.value()) / 1e9));
  }
  return {};
}

sim::Arrivals Sources::arrivals(std::uint64_t seed, double load) const {
  std::vector<sim::Arrivals> streams;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const config::WorkloadItem& item = config_->workload[i];
    // Entries of one run differ, and so do the runs of one entry.
    const std::uint64_t own = seed * 1'000 + i;
    streams.push_back(item.generator ? generate(*config_, item, own, load)
                                     : replay(*config_, item, traces_[i], load));
  }
  return Merged(std::move(streams));
}

}  // namespace tidegate::scenario
