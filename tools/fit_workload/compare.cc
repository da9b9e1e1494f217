#include "compare.h"

#include <fmt/format.h>

#include "workload/generator.h"

namespace tidegate::tools {

using workload::TraceStatistics;

namespace {

constexpr int kSeeds = 5;
constexpr std::uint64_t kFirstSeed = 101;  // not those of the fit

// The figures in the order in which the table shows them.
template <class Statistics, class Visit>
void for_each_figure(Statistics& s, Visit visit) {
  visit(s.requests_per_s);
  visit(s.input.mean);
  visit(s.input.p50);
  visit(s.input.p90);
  visit(s.input.p99);
  visit(s.output.mean);
  visit(s.output.p50);
  visit(s.output.p90);
  visit(s.output.p99);
  visit(s.gap_cv);
  visit(s.dispersion_1s);
  visit(s.dispersion_10s);
  visit(s.dispersion_60s);
  visit(s.length_correlation);
  visit(s.top_client);
  visit(s.top_10_clients);
  visit(s.prefix_hits);
}

std::string line(const std::string& name, const TraceStatistics& s) {
  std::string text = "| " + name + " |";
  for_each_figure(s, [&](double figure) {
    text += figure == 0      ? std::string(" |")
            : figure >= 1000 ? fmt::format(" {:.0f} |", figure)
                             : fmt::format(" {:.3g} |", figure);
  });
  return text + "\n";
}

}  // namespace

TraceStatistics describe_generated(const workload::Profile& profile, double length_s) {
  TraceStatistics sum;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    workload::GeneratorSpec spec;
    spec.length = units::Nanos(static_cast<std::int64_t>(length_s * 1e9));
    spec.seed = seed;
    auto generator = workload::Generator::create(spec, profile);
    TraceStatistics one =
        workload::describe(workload::collect(std::move(*generator), spec.hash_block));
    std::vector<double> figures;
    for_each_figure(one, [&](double figure) { figures.push_back(figure / kSeeds); });
    std::size_t i = 0;
    for_each_figure(sum, [&](double& figure) { figure += figures[i++]; });
  }
  return sum;
}

std::string comparison_heading() {
  return "| | req/s | in mean | p50 | p90 | p99 | out mean | p50 | p90 | p99 | gap CV | "
         "disp. 1 s | 10 s | 60 s | rank corr. | top 1 | top 10 | prefix hits |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
}

std::string comparison(const std::string& name, const TraceStatistics& trace,
                       const TraceStatistics& generated) {
  return line(name + ", recorded", trace) + line("generated", generated);
}

}  // namespace tidegate::tools
