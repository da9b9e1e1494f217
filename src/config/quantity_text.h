// Durations, sizes and shares as people write them. A unit is required, so that nobody has to guess
// whether 30 means seconds. Pure functions.
#pragma once

#include <string_view>

#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::config {

// "500ms", "1.5s", "30min": a decimal number >= 0 and one of ns, us, ms, s, min, h, d.
// Exact: at most nine digits after the point, and the result must be whole nanoseconds.
units::Result<units::Nanos> parse_duration(std::string_view text);

// "16GiB", "4MB", "512B": a decimal number >= 0 and one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB.
units::Result<units::Bytes> parse_size(std::string_view text);

// "99" or "99.9" per cent, in (0, 100).
units::Result<units::Ppm> parse_percent(std::string_view text);

}  // namespace tidegate::config
