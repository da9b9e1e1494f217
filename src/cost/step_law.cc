#include "cost/step_law.h"

#include <algorithm>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::cost {
namespace {

using domain::StepCoefficients;
using units::add_saturating;
using units::Int128;
using units::kMillion;
using units::multiply_divide;
using units::multiply_saturating;
using units::Nanos;
using units::Ppm;
using units::Tokens;

constexpr std::int64_t kFemtosPerNano = 1'000'000;
// The correction averages over this much predicted engine time once it has seen that much.
constexpr Nanos kCorrectionWindow = units::seconds(60);
// What an unmeasured law and a calibrated one count as already seen.
constexpr Nanos kPriorUncalibrated = units::milliseconds(50);
constexpr Nanos kPriorCalibrated = units::seconds(5);
// One observation pulls as if it were at most this many times off.
constexpr std::int64_t kOutlierFactor = 4;
// A law that started unmeasured counts as calibrated after this many steps.
constexpr std::int64_t kCalibrationSteps = 64;
constexpr Ppm kCorrectionMin{10'000};
constexpr Ppm kCorrectionMax{100'000'000};
constexpr Ppm kSpreadMin{1'000'000};
constexpr Ppm kSpreadMax{3'000'000};
constexpr std::int64_t kSpreadGain = 2'000;  // ppm of movement a step at most

// slope(m): each token costs the slope of the segment that it lies in.
Int128 tokens_fs(const StepCoefficients& law, std::int64_t tokens) {
  const std::int64_t first = std::min(tokens, law.knees[0].value());
  const std::int64_t second = std::max(first, std::min(tokens, law.knees[1].value())) - first;
  const std::int64_t third = tokens - first - second;
  return Int128{law.per_token_fs[0]} * first + Int128{law.per_token_fs[1]} * second +
         Int128{law.per_token_fs[2]} * third;
}

Int128 tiles_fs(const StepCoefficients& law, const StepShape& shape) {
  if (law.row_tile <= 0) return 0;
  const std::int64_t rows = shape.decodes + (shape.prefill_tokens > 0 ? 1 : 0);
  const Int128 strays = Int128{law.stray_fs} * (rows % law.row_tile);
  return Int128{law.tile_fs} * (rows / law.row_tile) + std::min(strays, Int128{law.tile_fs});
}

// Largest chunk in [0, limit] for which fits(chunk) holds; fits is monotone.
template <class Fits>
Tokens largest(std::int64_t limit, Fits fits) {
  std::int64_t low = 0;
  std::int64_t high = std::max<std::int64_t>(limit, 0);
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return Tokens(low);
}

StepShape with_chunk(StepShape shape, Tokens context, std::int64_t chunk) {
  shape.add_chunk(context, Tokens(chunk));
  return shape;
}

}  // namespace

void StepShape::add_decode(Tokens context) {
  TIDEGATE_CHECK(context.value() >= 0);
  decodes += 1;
  kv_tokens = add_saturating(kv_tokens, context.value());
}

void StepShape::add_chunk(Tokens context, Tokens chunk) {
  TIDEGATE_CHECK(context.value() >= 0 && chunk.value() >= 0);
  prefill_tokens = add_saturating(prefill_tokens, chunk.value());
  const std::int64_t before = multiply_saturating(chunk.value(), context.value());
  const std::int64_t own = multiply_saturating(chunk.value(), chunk.value()) / 2;
  attention = add_saturating(attention, add_saturating(before, own));
}

Nanos predict(const StepCoefficients& law, const StepShape& shape) {
  if (shape.empty()) return Nanos(0);
  const Int128 fs =
      Int128{law.base_fs} + tokens_fs(law, add_saturating(shape.decodes, shape.prefill_tokens)) +
      (shape.prefill_tokens > 0 ? law.prefill_fs : 0) + Int128{law.per_decode_fs} * shape.decodes +
      Int128{law.per_kv_token_fs} * shape.kv_tokens +
      Int128{law.per_attention_fs} * shape.attention + tiles_fs(law, shape);
  return Nanos(units::divide_narrow(fs + kFemtosPerNano - 1, kFemtosPerNano));
}

StepLaw::StepLaw(const StepCoefficients& law, bool calibrated)
    : law_(law),
      observed_(calibrated ? kPriorCalibrated : kPriorUncalibrated),
      calibrated_(calibrated) {}

Nanos StepLaw::mean(const StepShape& shape) const {
  return units::scaled(predict(law_, shape), correction_);
}

Nanos StepLaw::guarded(const StepShape& shape) const {
  return units::scaled(mean(shape), spread_);
}

Tokens StepLaw::largest_chunk(const StepShape& shape, Tokens context, Nanos budget,
                              Tokens limit) const {
  return largest(limit.value(), [&](std::int64_t chunk) {
    return guarded(with_chunk(shape, context, chunk)) <= budget;
  });
}

void StepLaw::observe(const StepShape& shape, Nanos actual) {
  const Nanos predicted = predict(law_, shape);
  const Nanos expected = mean(shape);
  if (predicted <= Nanos(0) || expected <= Nanos(0) || actual <= Nanos(0)) return;
  const Ppm ratio(multiply_divide(actual.value(), kMillion, predicted.value()));
  const Ppm pull = std::clamp(ratio, correction_ / kOutlierFactor, correction_ * kOutlierFactor);
  observed_ = std::min(observed_ + expected, kCorrectionWindow);
  const Ppm shift(multiply_divide((pull - correction_).value(),
                                  std::min(expected, observed_).value(), observed_.value()));
  correction_ = std::clamp(correction_ + shift, kCorrectionMin, kCorrectionMax);

  const bool slower = multiply_divide(actual.value(), kMillion, expected.value()) > spread_.value();
  const Ppm move(slower ? kSpreadGain * 9 / 10 : -(kSpreadGain / 10));
  spread_ = std::clamp(spread_ + move, kSpreadMin, kSpreadMax);

  if (steps_ < kCalibrationSteps && ++steps_ == kCalibrationSteps) calibrated_ = true;
}

}  // namespace tidegate::cost
