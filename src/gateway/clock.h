// The gateway's one clock for decisions: monotonic, zero at process start. Wall time is for people
// and logs only and has its own function. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "units/quantity.h"

namespace tidegate::gateway {

// Nanoseconds since the first call in this process; never goes back.
units::Instant now();
// The instant as the standard library waits for it; never() becomes its latest.
std::chrono::steady_clock::time_point time_point(units::Instant at);
// Unix time, for logs and the "created" of answers.
std::int64_t wall_seconds();

}  // namespace tidegate::gateway
