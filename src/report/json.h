// The report's values as JSON: what json() writes and html() puts into its page. Pure.
#pragma once

#include <boost/json.hpp>
#include <vector>

#include "report/report.h"

namespace tidegate::report {

// `seconds` divides counts into rates; 0 gives rates of 0.
boost::json::object to_json(const Totals& totals, double seconds);
boost::json::array to_json(const std::vector<Group>& groups, double seconds);
boost::json::object to_json(const Bounds& bounds);
boost::json::object to_json(const Run& run);
boost::json::object to_json(const Report& report);
// null for an empty one. Levels and rates have five significant digits.
boost::json::value to_json(const Timeline& timeline);

// v with five significant digits: what a plot can show, and shorter to write.
double rounded(double v);

}  // namespace tidegate::report
