// The learned distribution of output lengths of one class (or one tenant within a class).
//
// A histogram over log-spaced lengths with exponential forgetting. An answer that was cut at its
// request's own maximum would have gone on: it only says that its length is at least that. So the
// histogram is read as the product-limit estimate of the survival function (Kaplan and Meier,
// "Nonparametric estimation from incomplete observations", JASA 1958), and forecast() gives eight
// quantiles of it, cut at the new request's maximum. Beyond all that was seen it says the longest
// cut, or what a forecast from elsewhere says where that is longer. Until it has seen enough it
// mixes with a forecast from elsewhere. One owner; integers only; no allocation after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "domain/footprint.h"
#include "units/quantity.h"

namespace tidegate::cost {

class LengthModel {
 public:
  // A completed request produced `output` of at most `max_output` tokens. REQUIRES: output >= 0.
  // O(kBuckets) at the rare rescale, else O(1).
  void observe(units::Tokens output, units::Tokens max_output);
  // The forecast for a request that may produce at most max_output; mixed with `otherwise`, which
  // is for the same request, while few were seen. REQUIRES: max_output >= 1. O(kBuckets).
  domain::LengthForecast forecast(units::Tokens max_output,
                                  const domain::LengthForecast& otherwise) const;
  std::int64_t observations() const { return seen_; }

  // Eight buckets an octave up to 2^20 tokens: a quantile is at most 9 % off.
  static constexpr std::size_t kPerOctave = 8;
  static constexpr std::size_t kBuckets = 20 * kPerOctave;

 private:
  // By length: those that ended there by themselves, and those that were cut there.
  std::array<std::int64_t, kBuckets> ended_{};
  std::array<std::int64_t, kBuckets> cut_{};
  std::int64_t total_ = 0;
  std::int64_t next_weight_ = 1'024;  // grows, so that older observations fade
  std::int64_t seen_ = 0;
};

}  // namespace tidegate::cost
