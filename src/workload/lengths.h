// Laws of token counts: a few named ones and a table of quantiles. A law is a value; a draw turns
// one uniform number into a count (inversion), so that two lengths can be drawn with a correlation.
#pragma once

#include <cstdint>
#include <vector>

#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::workload {

enum class LengthKind : std::uint8_t {
  kFixed,        // always `median`
  kUniform,      // the integers in [low, high]
  kExponential,  // of the given median
  kLognormal,    // of the given median; `spread` is sigma of the logarithm
  kPareto,       // median at `median`; `spread` is the tail index alpha
  kTable,        // `table`, linear in the logarithm between its points
};

struct Quantile {
  double share = 0;  // of the lengths that are at most `tokens`, in [0, 1]
  double tokens = 0;
};

struct LengthLaw {
  LengthKind kind = LengthKind::kFixed;
  double median = 1;
  double spread = 1;
  units::Tokens low{1};  // what comes out is held in [low, high]
  units::Tokens high{1'000'000};
  std::vector<Quantile> table;  // ascending in both; first share 0, last 1
};

// Fails with the field that is out of range.
units::Result<void> check(const LengthLaw& law);

// The count below which the share `u` of the law lies. REQUIRES: check(law), 0 < u < 1.
// O(log size of the table).
units::Tokens draw(const LengthLaw& law, double u);

}  // namespace tidegate::workload
