#include <algorithm>
#include <cmath>
#include <span>

#include "report/json.h"

namespace tidegate::report {
namespace {

namespace js = boost::json;

double seconds(units::Nanos span) {
  return static_cast<double>(span.value()) / 1e9;
}

js::value mean(const Level& level, double scale) {
  if (level.samples == 0) return nullptr;
  return rounded(static_cast<double>(level.sum) / static_cast<double>(level.samples) * scale);
}

// One number of each slice.
template <class S, class Number>
js::array series(std::span<const S> slices, Number number) {
  js::array values;
  values.reserve(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) values.emplace_back(number(slices[i], i));
  return values;
}

js::object shed_series(std::span<const Slice> slices) {
  js::object by_reason;
  for (std::size_t reason = 0; reason < domain::kReasonCount; ++reason) {
    const auto count = [&](const Slice& s, std::size_t) { return s.shed[reason]; };
    const bool any = std::any_of(slices.begin(), slices.end(),
                                 [&](const Slice& s) { return s.shed[reason] > 0; });
    if (any) by_reason[domain::name(static_cast<domain::Reason>(reason))] = series(slices, count);
  }
  return by_reason;
}

js::object group_series(const Timeline& timeline, std::size_t index) {
  const Timeline::Group& group = timeline.groups()[index];
  const auto slices = timeline.slices(index);
  const auto engines = static_cast<double>(group.engines);
  const auto capacity = static_cast<double>(group.kv_capacity.value());
  const double kv_scale = capacity > 0 ? engines / capacity : 0;
  const auto busy_share = [&](const GroupSlice& s, std::size_t i) {
    const double available = engines * static_cast<double>(timeline.covered(i).value());
    return available > 0 ? rounded(static_cast<double>(s.busy.value()) / available) : 0;
  };
  return {
      {"name", group.name},
      {"engines", group.engines},
      {"kv_capacity_blocks", group.kv_capacity.value()},
      {"running", series(slices, [&](const auto& s, auto) { return mean(s.running, engines); })},
      {"kv_used", series(slices, [&](const auto& s, auto) { return mean(s.kv_used, kv_scale); })},
      {"kv_used_fullest", series(slices,
                                 [&](const auto& s, auto) {
                                   return rounded(static_cast<double>(s.kv_used.max) * kv_scale);
                                 })},
      {"utilisation", series(slices, busy_share)}};
}

}  // namespace

js::value to_json(const Timeline& timeline) {
  if (timeline.empty()) return nullptr;
  const auto slices = timeline.slices();
  const auto tokens_per_s = [&](const Slice& s, std::size_t i) {
    return rounded(static_cast<double>(s.output.value()) / seconds(timeline.covered(i)));
  };
  js::array groups;
  for (std::size_t i = 0; i < timeline.groups().size(); ++i) {
    groups.push_back(group_series(timeline, i));
  }
  using I = std::size_t;
  return js::object{
      {"slice_seconds", seconds(timeline.slice_length())},
      {"counted_from_seconds", seconds(timeline.counted_from() - units::Instant())},
      {"arrivals", series(slices, [](const Slice& s, I) { return s.arrivals; })},
      {"completed", series(slices, [](const Slice& s, I) { return s.completed; })},
      {"failed", series(slices, [](const Slice& s, I) { return s.failed; })},
      {"shed", shed_series(slices)},
      {"preemptions", series(slices, [](const Slice& s, I) { return s.preemptions; })},
      {"tokens_per_s", series(slices, tokens_per_s)},
      {"queued", series(slices, [](const Slice& s, I) { return mean(s.queued, 1); })},
      {"queued_max", series(slices, [](const Slice& s, I) { return s.queued.max; })},
      {"service_gap_max_s",
       series(slices, [](const Slice& s, I) { return seconds(units::Nanos(s.service_gap.max)); })},
      {"by_gpu", std::move(groups)}};
}

double rounded(double v) {
  if (v == 0 || !std::isfinite(v)) return v;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(v))));
  return std::isfinite(scale) ? std::round(v * scale) / scale : v;
}

}  // namespace tidegate::report
