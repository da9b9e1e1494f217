#include "findings.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>
#include <utility>

namespace tidegate::bench {
namespace {

boost::json::value to_json(const std::optional<Figure>& figure) {
  if (!figure) return nullptr;
  boost::json::object made{{"text", figure->text}};
  made["value"] = std::isfinite(figure->value) ? boost::json::value(figure->value) : nullptr;
  return made;
}

std::string text_of(const std::optional<Figure>& figure) {
  return figure ? figure->text : "";
}

Figure spelled(double value, std::string text) {
  return {value, std::isfinite(value) ? std::move(text) : "without end"};
}

}  // namespace

Figure share(double value) {
  return spelled(value, fmt::format("{:.1f} %", value * 100));
}

Figure points(double value) {
  return spelled(value, fmt::format("{:.1f} points", std::round(value * 1000) / 10 + 0.0));
}

Figure ratio(double value) {
  return spelled(value, fmt::format("{:.3f}", value));
}

Figure milliseconds(double value) {
  return spelled(value, fmt::format("{:.0f} ms", value));
}

Figure seconds(double value) {
  return spelled(value, fmt::format("{:.1f} s", value));
}

Figure count(double value) {
  return spelled(value, fmt::format("{:.0f}", value));
}

Figure with(Figure figure, const std::string& remark) {
  figure.text += " (" + remark + ")";
  return figure;
}

std::string table_head() {
  return "| situation | target | tidegate | best baseline | upper bound | |\n"
         "| --- | --- | --- | --- | --- | --- |\n";
}

std::string table_row(const Finding& finding) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", finding.situation, finding.target,
                     finding.tidegate.text, text_of(finding.baseline), text_of(finding.bound),
                     finding.met ? "met" : "**MISSED**");
}

std::string json(const std::vector<Finding>& findings) {
  boost::json::array all;
  for (const Finding& each : findings) {
    all.push_back(boost::json::object{{"situation", each.situation},
                                      {"target", each.target},
                                      {"tidegate", to_json(each.tidegate)},
                                      {"best_baseline", to_json(each.baseline)},
                                      {"upper_bound", to_json(each.bound)},
                                      {"met", each.met}});
  }
  return boost::json::serialize(all);
}

}  // namespace tidegate::bench
