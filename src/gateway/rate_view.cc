#include "gateway/rate_view.h"

#include <string>

namespace tidegate::gateway {
namespace {

std::string reset_text(units::Nanos reset) {
  const std::int64_t ms = units::divide_up(reset.value() < 0 ? 0 : reset.value(), 1'000'000);
  if (ms < 1'000) return std::to_string(ms) + "ms";
  const std::int64_t tenths = units::divide_up(ms, 100);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
}

void append(const std::string& kind, const std::optional<RateLine>& line,
            openai::Headers& headers) {
  if (!line) return;
  headers.emplace_back("x-ratelimit-limit-" + kind, std::to_string(line->limit));
  headers.emplace_back("x-ratelimit-remaining-" + kind, std::to_string(line->remaining));
  headers.emplace_back("x-ratelimit-reset-" + kind, reset_text(line->reset));
}

}  // namespace

void append_rate_headers(const RateView& view, openai::Headers& headers) {
  append("requests", view.requests, headers);
  append("tokens", view.tokens, headers);
}

}  // namespace tidegate::gateway
