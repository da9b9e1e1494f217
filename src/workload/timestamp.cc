#include <charconv>
#include <chrono>
#include <cmath>

#include "workload/formats.h"

namespace tidegate::workload {
namespace {

// Reads exactly `digits` digits at `at`; -1 when there are not that many.
std::int64_t digits_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  std::int64_t value = -1;
  const char* begin = text.data() + at;
  const auto [end, code] = std::from_chars(begin, begin + digits, value);
  return code == std::errc() && end == begin + digits ? value : -1;
}

// ".97996" as nanoseconds; -1 when it is not a fraction of 1 to 9 digits.
std::int64_t fraction_ns(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] != '.' || text.size() < 2 || text.size() > 10) return -1;
  std::int64_t value = digits_at(text, 1, text.size() - 1);
  for (std::size_t i = text.size() - 1; i < 9 && value >= 0; ++i) value *= 10;
  return value;
}

}  // namespace

units::Result<units::Nanos> parse_timestamp(std::string_view text) {
  constexpr std::size_t kWhole = 19;  // YYYY-MM-DD HH:MM:SS
  const std::int64_t year = digits_at(text, 0, 4);
  const std::int64_t month = digits_at(text, 5, 2);
  const std::int64_t day = digits_at(text, 8, 2);
  const std::int64_t hour = digits_at(text, 11, 2);
  const std::int64_t minute = digits_at(text, 14, 2);
  const std::int64_t second = digits_at(text, 17, 2);
  const std::int64_t fraction = text.size() >= kWhole ? fraction_ns(text.substr(kWhole)) : -1;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1970 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60 || fraction < 0) {
    return units::error("", "it should be a time like 2023-11-16 18:17:03.9799600");
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return units::seconds(((days * 24 + hour) * 60 + minute) * 60 + second) + units::Nanos(fraction);
}

units::Nanos from_seconds(double seconds) {
  return units::Nanos(std::llround(seconds * 1e9));
}

}  // namespace tidegate::workload
