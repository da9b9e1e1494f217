// The page of html(), bundled from web/report at build time and compiled in by cmake/Embed.cmake.
#pragma once

#include <string_view>

namespace tidegate::report {

// Contains kDataMark once, where the report's data go.
extern const std::string_view kReportPage;
inline constexpr std::string_view kDataMark = "<!--report-data-->";

}  // namespace tidegate::report
