#include "cost/length_model.h"

#include <algorithm>
#include <bit>

#include "cost/length_forecast.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::cost {

using domain::LengthForecast;
using units::Tokens;

namespace {

// Each observation weighs 1/512 more than the one before: a memory of about 512 requests.
constexpr std::int64_t kForgetting = 512;
constexpr std::int64_t kRescaleAbove = std::int64_t{1} << 40;
constexpr int kRescaleShift = 20;
// Below this many observations the forecast is a mixture with the uninformed one.
constexpr std::int64_t kTrusted = 32;
constexpr Tokens kUninformedCap{512};

std::size_t bucket_of(Tokens output) {
  const auto length = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(output.value(), 1, (std::int64_t{1} << 20) - 1));
  const auto octave = static_cast<std::size_t>(std::bit_width(length) - 1);
  return octave * LengthModel::kPerOctave +
         static_cast<std::size_t>(((length * LengthModel::kPerOctave) >> octave) -
                                  LengthModel::kPerOctave);
}

// The middle of a bucket, at least 1.
std::int64_t length_of(std::size_t bucket) {
  const std::size_t octave = bucket / LengthModel::kPerOctave;
  const std::uint64_t step = LengthModel::kPerOctave + bucket % LengthModel::kPerOctave;
  const std::uint64_t low = (step << octave) / LengthModel::kPerOctave;
  const std::uint64_t next = ((step + 1) << octave) / LengthModel::kPerOctave;
  return static_cast<std::int64_t>(
      std::max<std::uint64_t>(1, next > low ? (low + next - 1) / 2 : low));
}

}  // namespace

void LengthModel::observe(Tokens output) {
  TIDEGATE_CHECK(output.value() >= 0);
  weight_[bucket_of(output)] += next_weight_;
  total_ += next_weight_;
  next_weight_ += next_weight_ / kForgetting;
  seen_ += 1;
  if (next_weight_ <= kRescaleAbove) return;
  total_ = 0;
  next_weight_ >>= kRescaleShift;
  for (auto& weight : weight_) {
    weight >>= kRescaleShift;
    total_ += weight;
  }
}

LengthForecast LengthModel::forecast(Tokens max_output) const {
  TIDEGATE_CHECK(max_output.value() >= 1);
  LengthForecast result = uninformed(max_output, kUninformedCap);
  if (seen_ == 0) return result;
  constexpr auto kPoints = static_cast<std::int64_t>(LengthForecast::kPoints);
  const std::int64_t trust = std::min(seen_, kTrusted);
  std::size_t bucket = 0;
  std::int64_t below = weight_[0];
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const std::int64_t target = units::multiply_divide(total_, 2 * i + 1, 2 * kPoints);
    while (below <= target && bucket + 1 < kBuckets) below += weight_[++bucket];
    const std::int64_t learned = std::min(length_of(bucket), max_output.value());
    Tokens& point = result.lengths[static_cast<std::size_t>(i)];
    point = Tokens((learned * trust + point.value() * (kTrusted - trust)) / kTrusted);
    point = std::clamp(point, Tokens(1), max_output);
  }
  return result;
}

}  // namespace tidegate::cost
