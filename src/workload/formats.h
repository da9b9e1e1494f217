// The readers behind trace_reader.h, one for each way of writing rows down. Internal to the room.
#pragma once

#include <string>
#include <string_view>

#include "units/quantity.h"
#include "units/result.h"
#include "workload/trace.h"

namespace tidegate::workload {

units::Result<Trace> read_csv_trace(const std::string& path);
units::Result<Trace> read_jsonl_trace(const std::string& path);

// "2023-11-16 18:17:03.9799600" (fraction optional) as nanoseconds since 1970, without a time zone.
units::Result<units::Nanos> parse_timestamp(std::string_view text);

// Seconds with a fraction as nanoseconds, rounded to the nearest.
units::Nanos from_seconds(double seconds);

inline constexpr double kMostSeconds = 4e9;
inline constexpr std::int64_t kMostTokens = 100'000'000;

}  // namespace tidegate::workload
