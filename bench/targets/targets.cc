// The table of targets (docs/benchmarks.md): each situation that Tidegate is held to, what it asks
// for, what was measured, the best of the baselines in the same runs, what no policy can exceed,
// and whether the target was met.
//
// Loads are multiples of the pool's capacity for the requests of the situation, which is computed
// from the upper bounds (Situation::capacity). Requests are followed for a while after the last one
// arrived, so that what a run cuts off is no miss; rows where demand never ends say so.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "findings.h"
#include "rows.h"

namespace tidegate::bench {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {{"underload", underload},
                                       {"overload", overload},
                                       {"published", published},
                                       {"long-prompts", long_prompts},
                                       {"flood", flood},
                                       {"guarantee", guarantee},
                                       {"swing", swing},
                                       {"fairness", fairness},
                                       {"memory", memory},
                                       {"retry-storm", retry_storm},
                                       {"wrong-lengths", wrong_lengths},
                                       {"wrong-step-times", wrong_step_times}};
  return all;
}

namespace {

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

int run(Bench bench, const std::vector<std::string>& only, bool as_json) {
  std::vector<Finding> findings;
  bench.add = [&](Finding finding) {
    if (!as_json) std::fputs(table_row(finding).c_str(), stdout);
    std::fflush(stdout);
    findings.push_back(std::move(finding));
  };
  if (!as_json) std::fputs(table_head().c_str(), stdout);
  for (const Row& row : rows()) {
    const bool wanted = only.empty() || std::find(only.begin(), only.end(), row.name) != only.end();
    if (wanted) row.measure(bench);
  }
  if (as_json) std::fputs((json(findings) + "\n").c_str(), stdout);
  const auto missed = std::count_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return !finding.met; });
  std::fprintf(stderr, "%zu targets, %zd missed\n", findings.size(), missed);
  return 0;
}

}  // namespace
}  // namespace tidegate::bench

int main(int argc, char** argv) {
  CLI::App app("Measures every target that Tidegate is held to in the simulator");
  tidegate::bench::Bench bench;
  bench.folder = "bench/targets";
  std::vector<std::string> only;
  bool as_json = false;
  app.add_option("--seeds", bench.seeds, "Runs of each, with seeds from 1 (5)")
      ->check(CLI::Range(1, 1'000));
  app.add_option("--only", only, "Rows to measure, of all")
      ->delimiter(',')
      ->check(CLI::IsMember(tidegate::bench::row_names()));
  app.add_option("--trace", bench.trace, "Azure's code trace of 2023, for QoServe's rows");
  app.add_option("--folder", bench.folder, "Where the situations are (bench/targets)");
  app.add_flag("--json", as_json, "Print JSON instead of a table");
  CLI11_PARSE(app, argc, argv);
  return tidegate::bench::run(std::move(bench), only, as_json);
}
