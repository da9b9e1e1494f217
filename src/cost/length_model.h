// The learned distribution of output lengths of one class (or one tenant within a class).
//
// A histogram over log-spaced lengths with exponential forgetting; forecast() reads eight quantiles
// from it, cut at the request's own maximum. Until it has seen enough it mixes with the uninformed
// forecast. One owner; integers only; no allocation after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "domain/footprint.h"
#include "units/quantity.h"

namespace tidegate::cost {

class LengthModel {
 public:
  // A completed request produced `output` tokens. REQUIRES: output >= 0. O(kBuckets) at the rare
  // rescale, else O(1).
  void observe(units::Tokens output);
  // The forecast for a request that may produce at most max_output. REQUIRES: max_output >= 1.
  domain::LengthForecast forecast(units::Tokens max_output) const;
  std::int64_t observations() const { return seen_; }

  // Eight buckets an octave up to 2^20 tokens: a quantile is at most 9 % off.
  static constexpr std::size_t kPerOctave = 8;
  static constexpr std::size_t kBuckets = 20 * kPerOctave;

 private:
  std::array<std::int64_t, kBuckets> weight_{};
  std::int64_t total_ = 0;
  std::int64_t next_weight_ = 1'024;  // grows, so that older observations fade
  std::int64_t seen_ = 0;
};

}  // namespace tidegate::cost
