#include "report/json.h"

#include "report/report.h"

namespace tidegate::report {
namespace {

namespace js = boost::json;
using units::Ppm;

double millis(units::Nanos span) {
  return static_cast<double>(span.value()) / 1e6;
}

js::object latencies(const Histogram& h) {
  return {{"p50", millis(h.quantile(Ppm(500'000)))},
          {"p90", millis(h.quantile(Ppm(900'000)))},
          {"p99", millis(h.quantile(Ppm(990'000)))},
          {"max", millis(h.max())}};
}

js::object rejections(const Totals& totals) {
  js::object by_reason;
  for (int i = 0; i < domain::kReasonCount; ++i) {
    const std::int64_t count = totals.rejected[static_cast<std::size_t>(i)];
    if (count > 0) by_reason[domain::name(static_cast<domain::Reason>(i))] = count;
  }
  return by_reason;
}

js::value optional(const std::optional<double>& v) {
  return v ? js::value(*v) : js::value(nullptr);
}

// The present speed as a share of the one that is needed, so that `bounds` holds shares only.
std::optional<double> inverse(const std::optional<double>& factor) {
  return factor ? std::optional(1 / *factor) : std::nullopt;
}

js::array to_json(const std::vector<ClassPromise>& promises) {
  const auto optional_millis = [](const std::optional<units::Nanos>& span) {
    return span ? js::value(millis(*span)) : js::value(nullptr);
  };
  js::array rows;
  for (const ClassPromise& promise : promises) {
    rows.push_back(js::object{{"name", promise.name},
                              {"ttft_ms", optional_millis(promise.ttft)},
                              {"tpot_ms", optional_millis(promise.tpot)},
                              {"deadline_ms", optional_millis(promise.deadline)}});
  }
  return rows;
}

}  // namespace

js::object to_json(const Totals& t, double seconds) {
  const auto rate = [&](std::int64_t n) {
    return seconds > 0 ? static_cast<double>(n) / seconds : 0;
  };
  return {{"offered", t.offered},
          {"admitted", t.admitted},
          {"rejected", rejections(t)},
          {"completed", t.completed},
          {"cancelled", t.cancelled},
          {"failed", t.failed},
          {"downgraded", t.downgraded},
          {"residue", t.residue},
          {"ttft_ms", latencies(t.ttft)},
          {"tpot_ms", latencies(t.tpot)},
          {"max_gap_ms", latencies(t.max_gap)},
          {"e2e_ms", latencies(t.e2e)},
          {"queue_ms", latencies(t.queue)},
          {"attainment_offered", t.attainment_offered()},
          {"attainment_admitted", t.attainment_admitted()},
          {"goodput_rps", rate(t.kept)},
          {"input_tokens", t.input_tokens.value()},
          {"output_tokens", t.output_tokens.value()},
          {"tokens_per_s", rate(t.output_tokens.value())},
          {"preemptions", t.preemptions},
          {"recomputed_tokens", t.recomputed_tokens.value()}};
}

js::array to_json(const std::vector<Group>& groups, double seconds) {
  js::array rows;
  for (const auto& [name, totals] : groups) {
    js::object row{{"name", name}};
    for (auto& member : to_json(totals, seconds)) row.insert(member);
    rows.push_back(std::move(row));
  }
  return rows;
}

js::object to_json(const Bounds& bounds) {
  return {{"roofline", optional(bounds.roofline)},
          {"fluid", optional(bounds.fluid)},
          {"interval_lp", optional(bounds.interval_lp)},
          {"speed_augmentation", optional(inverse(bounds.speed_factor))}};
}

js::object to_json(const Run& run) {
  const double seconds = run.simulated_seconds;
  return {{"seed", run.seed},
          {"policy", run.policy},
          {"oracles", js::array(run.oracles.begin(), run.oracles.end())},
          {"load", run.load},
          {"digest", run.digest},
          {"simulated_seconds", seconds},
          {"wall_seconds", run.wall_seconds},
          {"decisions", run.decisions},
          {"decision_ns",
           {{"p50", run.decision_time.quantile(Ppm(500'000)).value()},
            {"p99", run.decision_time.quantile(Ppm(990'000)).value()}}},
          {"engine_steps", run.engine_steps},
          {"totals", to_json(run.totals, seconds)},
          {"by_class", to_json(run.by_class, seconds)},
          {"by_tenant", to_json(run.by_tenant, seconds)},
          {"by_model", to_json(run.by_model, seconds)},
          {"by_gpu", to_json(run.by_gpu, seconds)},
          {"kv",
           {{"capacity_blocks", run.kv.capacity_blocks},
            {"peak_blocks", run.kv.peak_blocks},
            {"overcommits", run.kv.overcommits}}},
          {"fairness",
           {{"max_service_gap", optional(run.fairness.max_service_gap)},
            {"bound", optional(run.fairness.bound)}}},
          {"bounds", to_json(run.bounds)},
          {"speed_factor", optional(run.bounds.speed_factor)},
          {"utilisation", run.utilisation},
          {"timeline", to_json(run.timeline)}};
}

js::object to_json(const Report& report) {
  js::object top{{"schema_version", kSchemaVersion},
                 {"tidegate_version", report.tidegate_version},
                 {"scenario", report.scenario},
                 {"promises", to_json(report.promises)}};
  js::array runs;
  for (const Run& run : report.runs) runs.push_back(to_json(run));
  top["runs"] = std::move(runs);
  return top;
}

std::string json(const Report& report) {
  return js::serialize(to_json(report)) + "\n";
}

}  // namespace tidegate::report
