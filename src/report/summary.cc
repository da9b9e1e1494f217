#include "report/summary.h"

#include <algorithm>
#include <utility>

namespace tidegate::report {
namespace {

void add_groups(std::vector<Group>& sums, const std::vector<Group>& parts) {
  for (const Group& part : parts) {
    const auto found = std::find_if(sums.begin(), sums.end(),
                                    [&](const Group& g) { return g.first == part.first; });
    if (found == sums.end()) {
      sums.push_back(part);
    } else {
      found->second.add(part.second);
    }
  }
}

Summary& summary_of(std::vector<Summary>& all, const Run& run) {
  for (Summary& summary : all) {
    if (summary.policy == run.policy && summary.load == run.load) return summary;
  }
  Summary& added = all.emplace_back();
  added.policy = run.policy;
  added.load = run.load;
  return added;
}

void add(Summary& summary, const Run& run) {
  summary.runs.push_back(&run);
  summary.simulated_seconds += run.simulated_seconds;
  summary.totals.add(run.totals);
  add_groups(summary.by_class, run.by_class);
  add_groups(summary.by_tenant, run.by_tenant);
  add_groups(summary.by_model, run.by_model);
  add_groups(summary.by_gpu, run.by_gpu);
}

template <class Value>
Spread spread(const std::vector<const Run*>& runs, Value value) {
  Spread over{0, value(*runs.front()), value(*runs.front())};
  for (const Run* run : runs) {
    over.mean += value(*run) / static_cast<double>(runs.size());
    over.low = std::min(over.low, value(*run));
    over.high = std::max(over.high, value(*run));
  }
  over.mean = std::clamp(over.mean, over.low, over.high);
  return over;
}

std::optional<double> mean(const std::vector<const Run*>& runs,
                           std::optional<double> Bounds::*bound) {
  double sum = 0;
  int count = 0;
  for (const Run* run : runs) {
    if (const auto& value = run->bounds.*bound) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

void compare_seeds(Summary& summary) {
  const auto& runs = summary.runs;
  summary.attainment_offered =
      spread(runs, [](const Run& r) { return r.totals.attainment_offered(); });
  summary.attainment_admitted =
      spread(runs, [](const Run& r) { return r.totals.attainment_admitted(); });
  summary.bounds = {mean(runs, &Bounds::roofline), mean(runs, &Bounds::fluid),
                    mean(runs, &Bounds::interval_lp), mean(runs, &Bounds::speed_factor)};
}

}  // namespace

std::vector<Summary> summaries(const Report& report) {
  std::vector<Summary> all;
  for (const Run& run : report.runs) add(summary_of(all, run), run);
  for (Summary& summary : all) compare_seeds(summary);
  return all;
}

std::optional<NamedBound> tightest(const Bounds& bounds) {
  std::optional<NamedBound> lowest;
  const auto consider = [&](std::string_view name, const std::optional<double>& value) {
    if (value && (!lowest || *value < lowest->value)) lowest = NamedBound{name, *value};
  };
  consider("roofline", bounds.roofline);
  consider("fluid", bounds.fluid);
  consider("interval_lp", bounds.interval_lp);
  return lowest;
}

}  // namespace tidegate::report
