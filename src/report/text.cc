#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/summary.h"
#include "report/text_table.h"

namespace tidegate::report {
namespace {

using units::Ppm;

// Three digits and a unit that a person would use.
std::string duration(units::Nanos span) {
  const auto ns = static_cast<double>(span.value());
  if (ns < 1e6) return fmt::format("{:.2f} ms", ns / 1e6);
  const auto three = [](double v) {
    return fmt::format("{:.{}f}", v, v < 10 ? 2 : v < 100 ? 1 : 0);
  };
  if (ns < 1e9) return three(ns / 1e6) + " ms";
  if (ns < 120e9) return three(ns / 1e9) + " s";
  if (ns < 7'200e9) return three(ns / 60e9) + " min";
  return three(ns / 3'600e9) + " h";
}

std::string quantile(const Histogram& h, std::int64_t ppm) {
  return h.count() == 0 ? "-" : duration(h.quantile(Ppm(ppm)));
}

std::string percent(double share) {
  // Never round up to 100: a missed promise must not look kept.
  const double percent = share * 100;
  return fmt::format("{:.1f} %", share < 1 && percent > 99.9 ? 99.9 : percent);
}

// Five digits or fewer, then thousands.
std::string rate(double per_second) {
  if (per_second >= 100'000) return fmt::format("{:.0f}k", per_second / 1'000);
  if (per_second >= 10'000) return fmt::format("{:.1f}k", per_second / 1'000);
  return fmt::format("{:.{}f}", per_second, per_second < 100 ? 1 : 0);
}

std::int64_t shed(const Totals& totals) {
  std::int64_t sum = 0;
  for (const std::int64_t count : totals.rejected) sum += count;
  return sum;
}

std::vector<std::string> row(const std::string& policy, const Group& group, double seconds) {
  const Totals& t = group.second;
  const auto per_second = [&](std::int64_t n) {
    return rate(seconds > 0 ? static_cast<double>(n) / seconds : 0);
  };
  return {policy,
          group.first,
          fmt::format("{}", t.offered),
          percent(t.attainment_offered()),
          percent(t.attainment_admitted()),
          fmt::format("{}", shed(t)),
          quantile(t.ttft, 500'000),
          quantile(t.ttft, 990'000),
          quantile(t.tpot, 500'000),
          quantile(t.tpot, 990'000),
          per_second(t.output_tokens.value()),
          per_second(t.kept)};
}

std::string shed_by_reason(const Totals& totals) {
  std::string list;
  for (std::size_t i = 0; i < totals.rejected.size(); ++i) {
    if (totals.rejected[i] == 0) continue;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        domain::name(static_cast<domain::Reason>(i)), totals.rejected[i]);
  }
  return list;
}

std::string bound_line(const Summary& summary) {
  const auto bound = tightest(summary.bounds);
  if (!bound) return "";
  const double attained = summary.attainment_offered.mean;
  std::string line = fmt::format("bound: {} allows {}, {:.1f} points away", bound->name,
                                 percent(bound->value), (bound->value - attained) * 100);
  if (summary.bounds.speed_factor) {
    line +=
        fmt::format("; attained with hardware {:.2f} times as fast", *summary.bounds.speed_factor);
  }
  return line;
}

std::string counts_line(const Totals& t) {
  const std::pair<std::string_view, std::int64_t> counts[] = {{"cancelled", t.cancelled},
                                                              {"failed", t.failed},
                                                              {"downgraded", t.downgraded},
                                                              {"unfinished at the end", t.residue},
                                                              {"preemptions", t.preemptions}};
  std::string line;
  for (const auto& [name, count] : counts) {
    if (count > 0) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, count);
  }
  return line;
}

// What the machine did: engine time, memory, the cost of deciding; and the digest to repeat it by.
std::string run_line(const Run& run) {
  const auto micros = [&run](std::int64_t ppm) {
    return static_cast<double>(run.decision_time.quantile(Ppm(ppm)).value()) / 1e3;
  };
  return fmt::format(
      "seed {}: engines busy {}, KV peak {} of {} blocks, {} engine steps in {:.1f} s of wall "
      "time, decisions p50 {:.1f} us p99 {:.1f} us, digest {}",
      run.seed, percent(run.utilisation), run.kv.peak_blocks, run.kv.capacity_blocks,
      run.engine_steps, run.wall_seconds, micros(500'000), micros(990'000), run.digest);
}

void add_notes(TextTable& table, const Summary& summary) {
  const auto note = [&](std::string_view what, const std::string& line) {
    if (!line.empty()) table.note(fmt::format("  {}{}", what, line));
  };
  if (summary.runs.size() > 1) {
    const Spread& over = summary.attainment_offered;
    note("kept over the seeds: ", fmt::format("{} to {}", percent(over.low), percent(over.high)));
  }
  note("shed: ", shed_by_reason(summary.totals));
  note("", counts_line(summary.totals));
  note("", bound_line(summary));
  note("", run_line(*summary.runs.front()));
  std::int64_t overcommits = 0;
  for (const Run* run : summary.runs) overcommits += run->kv.overcommits;
  if (overcommits > 0) note("", fmt::format("KV OVERCOMMITTED {} times", overcommits));
}

void add_policy(TextTable& table, const Summary& summary, bool several_loads) {
  std::string name = summary.policy;
  if (several_loads) name += fmt::format(" at {:g}x", summary.load);
  table.add(row(name, {"all", summary.totals}, summary.simulated_seconds));
  if (summary.by_class.size() > 1) {
    for (const Group& group : summary.by_class) {
      table.add(row("", group, summary.simulated_seconds));
    }
  }
  add_notes(table, summary);
}

}  // namespace

std::string text(const Report& report) {
  TextTable table({"policy", "class", "offered", "kept", "of admitted", "shed", "ttft p50", "p99",
                   "tpot p50", "p99", "tokens/s", "goodput/s"},
                  2);
  const std::vector<Summary> all = summaries(report);
  const bool several_loads = std::any_of(all.begin(), all.end(),
                                         [&](const Summary& summary) { return summary.load != 1; });
  for (const Summary& summary : all) add_policy(table, summary, several_loads);
  std::string out = fmt::format("{} (tidegate {})\n", printable(report.scenario),
                                printable(report.tidegate_version));
  if (report.runs.empty()) return out + "no runs\n";
  return out + table.str();
}

}  // namespace tidegate::report
