#include "openai/hints.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "units/integer.h"

namespace tidegate::openai {

namespace {

constexpr std::size_t kMaxValueBytes = 256;
constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;
constexpr std::int64_t kNanosPerMs = 1'000'000;
constexpr std::size_t kMaxDecimals = 6;

using Names = std::vector<std::string_view>;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// The header of the first name that is there; null when none is. Error when that one is there
// twice or is not fit to be read.
units::Result<const Header*> find(const Headers& headers, const Names& names) {
  for (const std::string_view name : names) {
    const auto named = [name](const Header& header) { return header.first == name; };
    const auto first = std::find_if(headers.begin(), headers.end(), named);
    if (first == headers.end()) continue;
    if (std::count_if(first, headers.end(), named) > 1) {
      return units::error(std::string(name), "must be given once");
    }
    if (first->second.size() > kMaxValueBytes || !printable(first->second)) {
      return units::error(std::string(name), "must be at most " + std::to_string(kMaxValueBytes) +
                                                 " printable ASCII characters");
    }
    return &*first;
  }
  return nullptr;
}

// Decimal milliseconds to nanoseconds, exactly; -1 when malformed or beyond nine digits.
std::int64_t parse_milliseconds(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const bool has_point = point < text.size();
  if (whole.empty() || whole.size() > 10 || !all_digits(whole) || !all_digits(decimals)) return -1;
  if (decimals.size() > kMaxDecimals || (has_point && decimals.empty())) return -1;
  std::string digits(decimals);
  digits.resize(kMaxDecimals, '0');
  std::int64_t ms = 0;
  std::int64_t ns = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), ms);
  std::from_chars(digits.data(), digits.data() + digits.size(), ns);
  return ms * kNanosPerMs + ns;
}

units::Result<std::optional<units::Nanos>> read_span(const Headers& headers, const Names& names,
                                                     std::int64_t max_ms) {
  const auto header = find(headers, names);
  if (!header) return tl::unexpected(header.error());
  if (*header == nullptr) return std::optional<units::Nanos>();
  const std::int64_t ns = parse_milliseconds((*header)->second);
  if (ns <= 0 || ns > max_ms * kNanosPerMs) {
    return units::error((*header)->first, "must be milliseconds above 0 and at most " +
                                              std::to_string(max_ms) + ", such as 500 or 12.5");
  }
  return std::optional(units::Nanos(ns));
}

units::Result<std::string> read_text(const Headers& headers, const Names& names) {
  const auto header = find(headers, names);
  if (!header) return tl::unexpected(header.error());
  return *header == nullptr ? std::string() : (*header)->second;
}

units::Result<std::uint8_t> read_retries(const Headers& headers) {
  const auto header = find(headers, {"x-stainless-retry-count"});
  if (!header) return tl::unexpected(header.error());
  if (*header == nullptr) return std::uint8_t{0};
  const std::string& text = (*header)->second;
  if (text.empty() || text.size() > 9 || !all_digits(text)) {
    return units::error((*header)->first, "must be a count, such as 0 or 2");
  }
  std::int32_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return static_cast<std::uint8_t>(std::min(count, 255));
}

// Assigns the value or keeps the first error.
template <class Value, class Target>
void keep(units::Result<Value> read, Target& target, std::optional<units::Error>& failed) {
  if (read)
    target = *std::move(read);
  else if (!failed)
    failed = std::move(read.error());
}

}  // namespace

units::Result<Hints> parse_hints(const Headers& headers) {
  Hints hints;
  std::optional<units::Error> failed;
  keep(read_text(headers, {"x-tidegate-class"}), hints.service_class, failed);
  keep(read_span(headers, {"x-tidegate-ttft-ms", "x-llm-d-slo-ttft-ms", "x-slo-ttft-ms"}, kDayMs),
       hints.ttft, failed);
  keep(read_span(headers, {"x-tidegate-tpot-ms", "x-llm-d-slo-tpot-ms", "x-slo-tpot-ms"}, kDayMs),
       hints.tpot, failed);
  keep(read_span(headers, {"x-tidegate-deadline-ms"}, 30 * kDayMs), hints.deadline, failed);
  keep(read_text(headers, {"x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id"}),
       hints.fairness_id, failed);
  keep(read_text(headers, {"x-llm-d-inference-objective"}), hints.objective, failed);
  keep(read_retries(headers), hints.caller_retries, failed);
  keep(read_text(headers, {"idempotency-key"}), hints.idempotency_key, failed);
  if (failed) return tl::unexpected(*std::move(failed));
  return hints;
}

}  // namespace tidegate::openai
