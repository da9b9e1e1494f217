#include "world.h"

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/scenario_load.h"
#include "report/report.h"
#include "scenario/prepare.h"
#include "sim/simulator.h"

namespace tidegate::scenario::testing {
namespace {

using report::Group;
using report::Histogram;
using report::Totals;
using script::Course;

Prepared prepared(const script::Script& script) {
  auto config = config::parse_scenario(script.given, "script", {});
  if (!config)
    throw std::runtime_error(config.error().front().where + ": " + config.error().front().message);
  auto world = prepare(std::move(*config));
  if (!world) throw std::runtime_error(world.error().front().message);
  return std::move(*world);
}

void add(std::vector<Group>& sum, const std::vector<Group>& more) {
  if (sum.empty()) sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    sum[i].first = more[i].first;
    sum[i].second.add(more[i].second);
  }
}

void write(const std::string& name, const Totals& totals, Course& course) {
  if (totals.offered == 0) return;
  course.text += name + ":";
  const auto figure = [&](const std::string& what, std::int64_t value) {
    course.measure(what, value, 0, name);
    course.text += " " + what + "=" + std::to_string(value);
  };
  const auto time = [&](const std::string& what, const Histogram& times, std::int64_t percent) {
    const units::Nanos value = times.quantile(units::Ppm(percent * 10'000));
    course.measure(what, value.value(), 0, name);
    course.text += " " + what + "=" + script::in_ms(value);
  };
  figure("offered", totals.offered);
  figure("admitted", totals.admitted);
  figure("completed", totals.completed);
  figure("shed", std::accumulate(totals.rejected.begin(), totals.rejected.end(), std::int64_t{0}));
  figure("failed", totals.failed);
  figure("residue", totals.residue);
  figure("kept", totals.kept);
  figure("missed", totals.admitted - totals.kept_admitted);
  course.text += "\n ";
  figure("kept_ppm", totals.kept * units::kMillion / totals.offered);
  figure("preempted", totals.preemptions);
  figure("output", totals.output_tokens.value());
  course.text += "\n ";
  time("ttft_p50", totals.ttft, 50);
  time("ttft_p99", totals.ttft, 99);
  time("tpot_p50", totals.tpot, 50);
  time("tpot_p99", totals.tpot, 99);
  time("longest_gap_p99", totals.max_gap, 99);
  course.text += "\n";
}

}  // namespace

Course play(const script::Script& script) {
  const Prepared given = prepared(script);
  Totals all;
  std::vector<Group> classes;
  std::vector<Group> tenants;
  const auto seeds = static_cast<std::uint64_t>(given.config->run.seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::Simulator simulator(given.world_of(seed), given.sources.arrivals(seed),
                             given.model_names());
    const report::Run run = simulator.run();
    all.add(run.totals);
    add(classes, run.by_class);
    add(tenants, run.by_tenant);
  }
  Course course;
  write("all", all, course);
  for (const auto& [name, totals] : classes) write(name, totals, course);
  for (const auto& [name, totals] : tenants) write(name, totals, course);
  return course;
}

}  // namespace tidegate::scenario::testing
