// What a person compares: the runs of one policy under one load, over all their seeds. Counts and
// histograms of the seeds are added up, so quantiles are those of all requests together; shares
// come with their range over seeds. Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace tidegate::report {

// One number over seeds. low <= mean <= high.
struct Spread {
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct Summary {
  std::string policy;
  double load = 1;
  std::vector<const Run*> runs;  // one a seed, in the order of the report
  double simulated_seconds = 0;  // over all runs: divides pooled counts into rates
  Totals totals;
  std::vector<Group> by_class, by_tenant, by_model, by_gpu;  // by name, in order of appearance
  Spread attainment_offered;
  Spread attainment_admitted;
  Bounds bounds;  // means over the seeds that have them
};

// One summary for each policy and load, in order of appearance. The report must outlive them.
std::vector<Summary> summaries(const Report& report);

struct NamedBound {
  std::string_view name;
  double value = 1;
};
// The lowest of the upper bounds on attainment; nothing when none was computed. The speed factor is
// not among them: it says how much faster the hardware would have to be.
std::optional<NamedBound> tightest(const Bounds& bounds);

}  // namespace tidegate::report
