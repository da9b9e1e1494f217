// Server-sent events as the OpenAI API uses them: framing only. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "units/quantity.h"

namespace tidegate::openai {

inline constexpr std::string_view kEventStream = "text/event-stream";
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";

// "data: {...}\n\n". REQUIRES: no line break in `json`.
std::string sse_event(std::string_view json);
// ": queued position=3 eta_ms=120\n\n": a comment that clients skip, for a request that is held.
// eta_ms is left out when the start cannot be predicted (`eta` is Nanos::max()), and never below 0.
std::string sse_queued(std::int64_t position, units::Nanos eta);
// A comment that only shows that we are alive.
std::string sse_keep_alive();
// The last event of a stream that broke: a blank line, so that it is whole whatever went before,
// then the error body. REQUIRES: as sse_event.
std::string sse_error(std::string_view error_body);

}  // namespace tidegate::openai
