#include "sim_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/outcome.h"

namespace tidegate::app {
namespace {

using report::Totals;
using units::Ppm;

// All runs of one policy.
struct Policy {
  std::string name;
  std::vector<const report::Run*> runs;
};

std::vector<Policy> by_policy(const report::Report& report) {
  std::vector<Policy> policies;
  for (const report::Run& run : report.runs) {
    auto found = std::find_if(policies.begin(), policies.end(),
                              [&run](const Policy& each) { return each.name == run.policy; });
    if (found == policies.end()) found = policies.insert(policies.end(), Policy{run.policy, {}});
    found->runs.push_back(&run);
  }
  return policies;
}

double seconds(const Policy& policy) {
  double sum = 0;
  for (const report::Run* run : policy.runs) sum += run->simulated_seconds;
  return sum;
}

std::string percent(double share) {
  return fmt::format("{:.2f}", share * 100);
}

// Three significant digits, in milliseconds or, from 10 s on, in seconds.
std::string time(const report::Histogram& h, std::int64_t per_cent) {
  if (h.count() == 0) return "-";
  const auto ns = static_cast<double>(h.quantile(Ppm(per_cent * 10'000)).value());
  if (ns >= 1e10) return fmt::format("{:.1f}s", ns / 1e9);
  return ns >= 1e8 ? fmt::format("{:.0f}", ns / 1e6) : fmt::format("{:.1f}", ns / 1e6);
}

std::string row(std::string_view policy, std::string_view part, const Totals& t, double span) {
  const double rate = span > 0 ? static_cast<double>(t.output_tokens.value()) / span : 0;
  return fmt::format("{:<14.14} {:<12.12} {:>8} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>9.0f}\n",
                     policy, part, t.offered, percent(t.attainment_offered()),
                     percent(t.attainment_admitted()), time(t.ttft, 50), time(t.ttft, 99),
                     time(t.tpot, 50), time(t.tpot, 99), rate);
}

std::string rows(const Policy& policy) {
  Totals all;
  std::vector<report::Group> classes;
  for (const report::Run* run : policy.runs) {
    all.add(run->totals);
    if (classes.empty()) {
      classes = run->by_class;
      continue;
    }
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i].second.add(run->by_class[i].second);
  }
  std::string text = row(policy.name, "all", all, seconds(policy));
  for (const auto& [name, totals] : classes) {
    if (totals.offered > 0) text += row("", name, totals, seconds(policy));
  }
  return text;
}

std::string refusals(const Policy& policy) {
  Totals all;
  for (const report::Run* run : policy.runs) all.add(run->totals);
  std::string text;
  const auto note = [&text](std::string_view what, std::int64_t count) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, count);
  };
  for (int i = 0; i < domain::kReasonCount; ++i) {
    note(domain::name(static_cast<domain::Reason>(i)), all.rejected[static_cast<std::size_t>(i)]);
  }
  note("cancelled", all.cancelled);
  note("failed", all.failed);
  note("downgraded", all.downgraded);
  note("unfinished at the end", all.residue);
  note("preemptions", all.preemptions);
  return text;
}

std::string bound(std::string_view name, std::optional<double> value) {
  return value ? fmt::format("  {} {}", name, percent(*value)) : "";
}

std::string bounds(const report::Bounds& b) {
  return bound("roofline", b.roofline) + bound("fluid", b.fluid) +
         bound("interval LP", b.interval_lp) + bound("speed augmentation", b.speed_augmentation);
}

std::string details(const Policy& policy) {
  const report::Run& run = *policy.runs.front();
  std::string text = fmt::format("{}:\n", policy.name);
  if (const std::string refused = refusals(policy); !refused.empty()) {
    text += fmt::format("  not kept whole: {}\n", refused);
  }
  if (const std::string limits = bounds(run.bounds); !limits.empty()) {
    text += fmt::format("  attainment at most:{} (seed {})\n", limits, run.seed);
  }
  const auto decision = [&run](std::int64_t per_cent) {
    return static_cast<double>(run.decision_time.quantile(Ppm(per_cent * 10'000)).value()) / 1e3;
  };
  text += fmt::format(
      "  engines busy {} %, KV peak {} of {} blocks, {} overcommits; {:.1f} s of wall time, {} "
      "engine steps, decision p50 {:.1f} us p99 {:.1f} us, digest {} (seed {})\n",
      percent(run.utilisation), run.kv.peak_blocks, run.kv.capacity_blocks, run.kv.overcommits,
      run.wall_seconds, run.engine_steps, decision(50), decision(99), run.digest, run.seed);
  return text;
}

}  // namespace

std::string summary(const report::Report& report) {
  std::string text =
      fmt::format("{:<14} {:<12} {:>8} {:>15} {:>17} {:>15} {:>9}\n", report.scenario, "", "",
                  "kept promises %", "TTFT ms", "TPOT ms", "tokens/s");
  text += fmt::format("{:<14} {:<12} {:>8} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>9}\n", "policy",
                      "class", "offered", "offered", "admit.", "p50", "p99", "p50", "p99", "out");
  const std::vector<Policy> policies = by_policy(report);
  for (const Policy& policy : policies) text += rows(policy);
  for (const Policy& policy : policies) text += details(policy);
  return text;
}

}  // namespace tidegate::app
