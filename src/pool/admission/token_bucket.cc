#include "pool/admission/token_bucket.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::pool {

using units::Instant;
using units::Int128;
using units::Nanos;

TokenBucket::TokenBucket(std::int64_t rate, Nanos period, std::int64_t capacity)
    : rate_(rate),
      period_ns_(period.value()),
      capacity_(capacity),
      level_(Int128{capacity} * period.value()) {
  TIDEGATE_CHECK(rate > 0 && period > Nanos(0) && capacity > 0);
}

Int128 TokenBucket::scaled(std::int64_t amount) const {
  return Int128{amount} * period_ns_;
}

Int128 TokenBucket::level_at(Instant now) const {
  const std::int64_t elapsed = std::max<std::int64_t>(0, (now - as_of_).value());
  return std::min(scaled(capacity_), level_ + Int128{elapsed} * rate_);
}

bool TokenBucket::take(std::int64_t amount, Instant now, std::int64_t& taken) {
  amount = std::min(amount, capacity_);
  const Int128 level = level_at(now);
  if (level < scaled(amount)) return false;
  level_ = level - scaled(amount);
  as_of_ = std::max(as_of_, now);
  taken = amount;
  return true;
}

void TokenBucket::settle(std::int64_t taken, std::int64_t used, Instant now) {
  level_ = std::min(scaled(capacity_), level_at(now) + scaled(taken) - scaled(used));
  as_of_ = std::max(as_of_, now);
}

void TokenBucket::change(std::int64_t rate, std::int64_t capacity, Instant now) {
  TIDEGATE_CHECK(rate > 0 && capacity > 0);
  level_ = level_at(now) * capacity / capacity_;
  rate_ = rate;
  capacity_ = capacity;
  as_of_ = std::max(as_of_, now);
}

Nanos TokenBucket::wait_for(std::int64_t amount, Instant now) const {
  const Int128 missing = scaled(std::min(amount, capacity_)) - level_at(now);
  if (missing <= 0) return Nanos(0);
  return Nanos(units::narrow_saturating((missing + rate_ - 1) / rate_));
}

std::int64_t TokenBucket::available(Instant now) const {
  const Int128 level = level_at(now);
  const Int128 whole = level >= 0 ? level / period_ns_ : -((-level + period_ns_ - 1) / period_ns_);
  return units::narrow_saturating(whole);
}

}  // namespace tidegate::pool
