// A log-linear histogram of spans of time: 64 buckets an octave, so that any quantile is within
// 0.8 % of a true one, in flat memory however long a run is (the idea of HdrHistogram, Tene 2012;
// no such library is packaged). One owner; histograms of parts can be added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "units/quantity.h"

namespace tidegate::report {

class Histogram {
 public:
  // Counts one span; negative ones count as 0. O(1).
  void add(units::Nanos span);
  void add(const Histogram& other);

  std::int64_t count() const { return count_; }
  units::Nanos max() const { return max_; }
  // Smallest recorded span with at least a share `q` of all at or below it, within 0.8 %; 0 when
  // empty. REQUIRES: q in [0, 1'000'000].
  units::Nanos quantile(units::Ppm q) const;

 private:
  static constexpr int kBitsPerOctave = 6;
  static constexpr std::size_t kBuckets = std::size_t{64 - kBitsPerOctave} << kBitsPerOctave;

  std::array<std::int64_t, kBuckets> buckets_{};
  std::int64_t count_ = 0;
  units::Nanos max_{0};
};

}  // namespace tidegate::report
