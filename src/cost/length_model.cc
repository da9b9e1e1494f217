#include "cost/length_model.h"

#include <algorithm>
#include <bit>

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
// Below this many observations the forecast is a mixture with the one that is given.
constexpr std::int64_t kTrusted = 32;

std::size_t bucket_of(Tokens output) {
  const auto length = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(output.value(), 1, (std::int64_t{1} << 20) - 1));
  const auto octave = static_cast<std::size_t>(std::bit_width(length) - 1);
  return octave * LengthModel::kPerOctave +
         static_cast<std::size_t>(((length * LengthModel::kPerOctave) >> octave) -
                                  LengthModel::kPerOctave);
}

// Where a bucket begins; that of the next one is where it ends.
std::int64_t begin_of(std::size_t bucket) {
  const std::size_t octave = bucket / LengthModel::kPerOctave;
  const std::uint64_t step = LengthModel::kPerOctave + bucket % LengthModel::kPerOctave;
  return static_cast<std::int64_t>((step << octave) / LengthModel::kPerOctave);
}

// The longest of a bucket. Of the shortest lengths some buckets have none.
std::int64_t last_of(std::size_t bucket) {
  return std::max(begin_of(bucket), begin_of(bucket + 1) - 1);
}

// The middle of a bucket, at least 1.
std::int64_t length_of(std::size_t bucket) {
  return std::max<std::int64_t>(1, (begin_of(bucket) + last_of(bucket)) / 2);
}

// The longest that was seen, rounded up to its bucket; 0 for none.
std::int64_t longest(const std::array<std::int64_t, LengthModel::kBuckets>& weights) {
  for (std::size_t bucket = LengthModel::kBuckets; bucket-- > 0;) {
    if (weights[bucket] > 0) return last_of(bucket);
  }
  return 0;
}

// Survival of everybody, in the fixed point of SurvivalWalk.
constexpr std::int64_t kAll = std::int64_t{1} << 32;

// The product-limit estimate, from short to long. Between two cuts survival falls in proportion to
// what ends, so it is only multiplied up where somebody was cut; without cuts it is exact.
class SurvivalWalk {
 public:
  using Weights = std::array<std::int64_t, LengthModel::kBuckets>;

  SurvivalWalk(const Weights& ended, const Weights& cut, std::int64_t total)
      : ended_(ended), cut_(cut), at_risk_(total) {}

  // The first bucket in which survival falls below `target`; kBuckets when it never does.
  // REQUIRES: targets fall from call to call.
  std::size_t falls_below(std::int64_t target) {
    for (; bucket_ < LengthModel::kBuckets && at_risk_ > 0; ++bucket_) {
      const std::int64_t may_end = units::multiply_divide(
          at_risk_, std::max<std::int64_t>(0, survival_ - target), survival_);
      if (over_ + ended_[bucket_] > may_end) return bucket_;
      over_ += ended_[bucket_];
      if (cut_[bucket_] > 0) pass_cut();
    }
    return LengthModel::kBuckets;
  }

 private:
  // Those who are cut leave after those who end in the same bucket.
  void pass_cut() {
    survival_ = units::multiply_divide(survival_, at_risk_ - over_, at_risk_);
    at_risk_ -= over_ + cut_[bucket_];
    over_ = 0;
  }

  const Weights& ended_;
  const Weights& cut_;
  std::int64_t at_risk_;          // at the last cut, all who are longer
  std::int64_t over_ = 0;         // of these, have ended since
  std::int64_t survival_ = kAll;  // at the last cut
  std::size_t bucket_ = 0;
};

}  // namespace

void LengthModel::observe(Tokens output, Tokens max_output) {
  TIDEGATE_CHECK(output.value() >= 0);
  auto& weight = output < max_output ? ended_ : cut_;
  weight[bucket_of(output)] += next_weight_;
  total_ += next_weight_;
  next_weight_ += next_weight_ / kForgetting;
  seen_ += 1;
  if (next_weight_ <= kRescaleAbove) return;
  total_ = 0;
  next_weight_ >>= kRescaleShift;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    ended_[bucket] >>= kRescaleShift;
    cut_[bucket] >>= kRescaleShift;
    total_ += ended_[bucket] + cut_[bucket];
  }
}

LengthForecast LengthModel::forecast(Tokens max_output, const LengthForecast& otherwise) const {
  TIDEGATE_CHECK(max_output.value() >= 1);
  LengthForecast result = otherwise;
  if (seen_ == 0) return result;
  constexpr auto kPoints = static_cast<std::int64_t>(LengthForecast::kPoints);
  const std::int64_t trust = std::min(seen_, kTrusted);
  SurvivalWalk walk(ended_, cut_, total_);
  for (std::int64_t i = 0; i < kPoints; ++i) {
    const std::size_t bucket =
        walk.falls_below(units::multiply_divide(kAll, 2 * (kPoints - i) - 1, 2 * kPoints));
    Tokens& point = result.lengths[static_cast<std::size_t>(i)];
    const std::int64_t known =
        bucket == kBuckets ? std::max(point.value(), longest(cut_)) : length_of(bucket);
    const std::int64_t learned = std::min(known, max_output.value());
    point = Tokens((learned * trust + point.value() * (kTrusted - trust)) / kTrusted);
    point = std::clamp(point, Tokens(1), max_output);
  }
  return result;
}

}  // namespace tidegate::cost
