#include "config/quantity_text.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::config {
namespace {

using units::error;

// A decimal as digits * 10^-decimals, without floating point.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

struct Unit {
  std::string_view name;
  std::int64_t scale;
};

constexpr std::array<Unit, 7> kDurations{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"h", 3'600'000'000'000},
                                          {"d", 86'400'000'000'000}}};
constexpr std::array<Unit, 9> kSizes{{{"B", 1},
                                      {"kB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000},
                                      {"KiB", 1LL << 10},
                                      {"MiB", 1LL << 20},
                                      {"GiB", 1LL << 30},
                                      {"TiB", 1LL << 40}}};

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// The number at the start of `text`, which is cut off it. Nullopt: none there, or too long.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal value;
  std::size_t used = 0;
  bool point = false;
  int count = 0;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    if (c == '.' && !point && count > 0) {
      point = true;
      continue;
    }
    if (!digit(c)) break;
    if (++count > 18 || value.decimals == 9) return std::nullopt;
    value.digits = value.digits * 10 + (c - '0');
    value.decimals += point ? 1 : 0;
  }
  if (count == 0 || text[used - 1] == '.') return std::nullopt;
  text.remove_prefix(used);
  return value;
}

// value * scale, exact or nullopt.
std::optional<std::int64_t> exact(const Decimal& value, std::int64_t scale) {
  std::int64_t divisor = 1;
  for (int i = 0; i < value.decimals; ++i) divisor *= 10;
  const units::Int128 product = static_cast<units::Int128>(value.digits) * scale;
  if (product % divisor != 0 || product / divisor > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(product / divisor);
}

template <std::size_t N>
units::Result<std::int64_t> parse(std::string_view text, const std::array<Unit, N>& known,
                                  const std::string& right) {
  const std::string wrong = "'" + std::string(text) + "' ";
  const auto value = take_decimal(text);
  if (!value) return error("", wrong + "is not a number with a unit; write " + right);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty()) return error("", wrong + "has no unit; write " + right);
  for (const Unit& unit : known) {
    if (unit.name != text) continue;
    if (const auto result = exact(*value, unit.scale)) return *result;
    return error("", wrong + "is too large or too fine; write " + right);
  }
  return error("", wrong + "has an unknown unit; write " + right);
}

}  // namespace

units::Result<units::Nanos> parse_duration(std::string_view text) {
  return parse(text, kDurations, "for example 500ms, 2s, 30min (ns, us, ms, s, min, h, d)")
      .map([](std::int64_t ns) { return units::Nanos(ns); });
}

units::Result<units::Bytes> parse_size(std::string_view text) {
  return parse(text, kSizes,
               "for example 4MiB, 16GiB, 512kB (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)")
      .map([](std::int64_t bytes) { return units::Bytes(bytes); });
}

units::Result<units::Ppm> parse_percent(std::string_view text) {
  const std::string wrong = "'" + std::string(text) + "' is not a percentile; ";
  const auto value = take_decimal(text);
  const auto ppm = value && text.empty() ? exact(*value, 10'000) : std::nullopt;
  if (!ppm || *ppm <= 0 || *ppm >= units::kMillion) {
    return error("", wrong + "write a number between 0 and 100, for example 99");
  }
  return units::Ppm(*ppm);
}

}  // namespace tidegate::config
