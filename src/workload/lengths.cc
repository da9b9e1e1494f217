#include "workload/lengths.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "units/check.h"
#include "workload/exact_math.h"

namespace tidegate::workload {

namespace {

constexpr double kLongest = 1e8;

bool ascending(const std::vector<Quantile>& table) {
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    if (!(table[i].share < table[i + 1].share && table[i].tokens <= table[i + 1].tokens)) {
      return false;
    }
  }
  return !table.empty() && table.front().share == 0 && table.back().share == 1 &&
         table.front().tokens >= 0 && table.back().tokens <= kLongest;
}

// In the logarithm of one more, so that 0 is allowed.
double from_table(const std::vector<Quantile>& table, double u) {
  const auto above = std::upper_bound(table.begin(), table.end(), u,
                                      [](double x, const Quantile& q) { return x < q.share; });
  const Quantile& high = *above;
  const Quantile& low = *(above - 1);
  if (low.tokens == high.tokens) return low.tokens;
  const double part = (u - low.share) / (high.share - low.share);
  const double from = exact_log(low.tokens + 1);
  return exact_exp(from + part * (exact_log(high.tokens + 1) - from)) - 1;
}

double unbounded(const LengthLaw& law, double u) {
  switch (law.kind) {
    case LengthKind::kFixed:
      return law.median;
    case LengthKind::kUniform: {
      const auto low = static_cast<double>(law.low.value());
      return std::floor(low + u * (static_cast<double>(law.high.value()) - low + 1));
    }
    case LengthKind::kExponential:
      return law.median * exact_log(1 - u) / exact_log(0.5);
    case LengthKind::kLognormal:
      return law.median * exact_exp(law.spread * normal_quantile(u));
    case LengthKind::kPareto:
      return law.median * exact_power(2 * (1 - u), -1 / law.spread);
    case LengthKind::kTable:
      return from_table(law.table, u);
  }
  TIDEGATE_CHECK(false);
}

}  // namespace

units::Result<void> check(const LengthLaw& law) {
  if (law.low < units::Tokens(0) || law.high < law.low ||
      static_cast<double>(law.high.value()) > kLongest) {
    return units::error("low", "the bounds must be 0 <= low <= high <= 100000000 tokens");
  }
  if (law.kind == LengthKind::kTable) {
    if (ascending(law.table)) return {};
    return units::error("table", "the shares must ascend from 0 to 1 and the tokens with them");
  }
  if (!(law.median > 0 && law.median <= kLongest)) {
    return units::error("median", "must be above 0 and at most 100000000 tokens");
  }
  if (!(law.spread > 0 && law.spread <= 100)) {
    return units::error("spread", "must be above 0 and at most 100");
  }
  return {};
}

units::Tokens draw(const LengthLaw& law, double u) {
  const double low = static_cast<double>(law.low.value());
  const double high = static_cast<double>(law.high.value());
  return units::Tokens(std::llround(std::clamp(unbounded(law, u), low, high)));
}

}  // namespace tidegate::workload
