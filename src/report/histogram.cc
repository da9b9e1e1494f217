#include "report/histogram.h"

#include <algorithm>
#include <bit>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::report {
namespace {

// Values below 2^bits have a bucket each; above, the leading bits + 1 of the value name the bucket.
std::size_t bucket_of(std::uint64_t value, int bits) {
  const int width = static_cast<int>(std::bit_width(value));
  if (width <= bits) return static_cast<std::size_t>(value);
  const int shift = width - bits - 1;
  const auto octave = static_cast<std::size_t>(shift) + 1;
  return (octave << bits) + static_cast<std::size_t>((value >> shift) - (std::uint64_t{1} << bits));
}

// The middle of a bucket.
std::int64_t value_of(std::size_t bucket, int bits) {
  const std::size_t octave = bucket >> bits;
  if (octave == 0) return static_cast<std::int64_t>(bucket);
  const int shift = static_cast<int>(octave) - 1;
  const std::uint64_t leading =
      (std::uint64_t{1} << bits) + (bucket & ((std::size_t{1} << bits) - 1));
  return static_cast<std::int64_t>((leading << shift) + ((std::uint64_t{1} << shift) >> 1));
}

}  // namespace

void Histogram::add(units::Nanos span) {
  const units::Nanos value = std::max(span, units::Nanos(0));
  buckets_[bucket_of(static_cast<std::uint64_t>(value.value()), kBitsPerOctave)] += 1;
  count_ += 1;
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

units::Nanos Histogram::quantile(units::Ppm q) const {
  TIDEGATE_CHECK(q.value() >= 0 && q.value() <= units::kMillion);
  if (count_ == 0) return units::Nanos(0);
  const std::int64_t wanted = std::max<std::int64_t>(
      1, units::divide_up(units::multiply_divide(count_, q.value(), 1), units::kMillion));
  std::int64_t below = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    below += buckets_[i];
    if (below >= wanted) return std::min(max_, units::Nanos(value_of(i, kBitsPerOctave)));
  }
  return max_;
}

}  // namespace tidegate::report
