#include "report/html.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "report/json.h"
#include "report/page.h"
#include "report/summary.h"
#include "units/check.h"

namespace tidegate::report {
namespace {

namespace js = boost::json;

// Where the plots read the distribution of a latency: even steps, and closer ones in the tail.
std::vector<units::Ppm> cdf_levels() {
  std::vector<units::Ppm> levels;
  for (std::int64_t ppm = 0; ppm <= 980'000; ppm += 20'000) levels.emplace_back(ppm);
  for (const std::int64_t ppm :
       {985'000, 990'000, 993'000, 995'000, 997'000, 999'000, 999'500, 999'900, 1'000'000}) {
    levels.emplace_back(ppm);
  }
  return levels;
}

// The quantile at each level, in milliseconds; null without a single value.
js::value cdf(const Histogram& histogram) {
  if (histogram.count() == 0) return nullptr;
  js::array values;
  for (const units::Ppm level : cdf_levels()) {
    values.emplace_back(rounded(static_cast<double>(histogram.quantile(level).value()) / 1e6));
  }
  return values;
}

js::object cdfs(const Totals& totals) {
  return {
      {"ttft_ms", cdf(totals.ttft)}, {"tpot_ms", cdf(totals.tpot)}, {"e2e_ms", cdf(totals.e2e)}};
}

js::array classes_with_cdfs(const Summary& summary) {
  js::array rows = to_json(summary.by_class, summary.simulated_seconds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].as_object()["cdf"] = cdfs(summary.by_class[i].second);
  }
  return rows;
}

js::object to_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"low", spread.low}, {"high", spread.high}};
}

js::object to_json(const Summary& summary) {
  const double seconds = summary.simulated_seconds;
  js::object totals = to_json(summary.totals, seconds);
  totals["cdf"] = cdfs(summary.totals);
  js::object object{{"policy", summary.policy},
                    {"load", summary.load},
                    {"seeds", summary.runs.size()},
                    {"simulated_seconds", seconds},
                    {"totals", std::move(totals)},
                    {"by_class", classes_with_cdfs(summary)},
                    {"by_tenant", to_json(summary.by_tenant, seconds)},
                    {"by_model", to_json(summary.by_model, seconds)},
                    {"by_gpu", to_json(summary.by_gpu, seconds)},
                    {"attainment_offered", to_json(summary.attainment_offered)},
                    {"attainment_admitted", to_json(summary.attainment_admitted)},
                    {"bounds", to_json(summary.bounds)}};
  if (summary.bounds.speed_factor) object["speed_factor"] = *summary.bounds.speed_factor;
  if (const auto bound = tightest(summary.bounds)) {
    object["tightest_bound"] = js::object{{"name", bound->name}, {"value", bound->value}};
  }
  return object;
}

js::object page_data(const Report& report) {
  js::object whole = to_json(report);
  // By tenant and model the page shows only what the seeds gave together.
  for (js::value& run : whole["runs"].as_array()) {
    run.as_object().erase("by_tenant");
    run.as_object().erase("by_model");
  }
  js::array policies;
  for (const Summary& summary : summaries(report)) policies.push_back(to_json(summary));
  js::array levels;
  for (const units::Ppm level : cdf_levels()) {
    levels.emplace_back(static_cast<double>(level.value()) / 1e6);
  }
  return {{"report", std::move(whole)},
          {"policies", std::move(policies)},
          {"cdf_levels", std::move(levels)}};
}

// JSON in which nothing can end a script element, open a comment or break a line of script. All of
// these occur only inside JSON strings, where an escape means the same.
std::string inert(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    std::size_t taken = 1;
    if (json.front() == '<') {
      out += "\\u003c";
    } else if (json.front() == '>') {
      out += "\\u003e";
    } else if (json.front() == '&') {
      out += "\\u0026";
    } else if (json.starts_with("\u2028") || json.starts_with("\u2029")) {
      out += json.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      taken = 3;
    } else {
      out += json.front();
    }
    json.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string html(const Report& report) {
  const std::size_t mark = kReportPage.find(kDataMark);
  TIDEGATE_CHECK(mark != std::string_view::npos);
  std::string page(kReportPage.substr(0, mark));
  page += R"(<script type="application/json" id="data">)";
  page += inert(js::serialize(page_data(report)));
  page += "</script>";
  page += kReportPage.substr(mark + kDataMark.size());
  return page;
}

}  // namespace tidegate::report
