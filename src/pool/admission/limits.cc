#include "pool/admission/limits.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::pool {

using domain::Reason;
using domain::Resource;
using units::Instant;
using units::Nanos;
using units::Ppm;
using units::Tokens;

namespace {

constexpr Nanos kMinute = units::seconds(60);
// A quiet tenant may always repeat a few, and never saves up more than some.
constexpr Ppm kRetryCreditAtStart{3 * units::kMillion};
constexpr Ppm kRetryCreditMax{100 * units::kMillion};

struct Rate {
  std::int64_t units = 0;
  Nanos period{0};
  std::int64_t capacity = 0;
};

std::optional<Rate> per_minute(std::optional<std::int64_t> limit) {
  if (!limit) return std::nullopt;
  const std::int64_t rate = std::max<std::int64_t>(1, *limit);
  return Rate{rate, kMinute, rate};
}

std::optional<Rate> rate_of(const std::optional<domain::Guarantee>& guarantee) {
  if (!guarantee || guarantee->tokens_per_s <= Tokens(0)) return std::nullopt;
  const std::int64_t rate = guarantee->tokens_per_s.value();
  return Rate{rate, units::seconds(1), std::max(rate, guarantee->burst_tokens.value())};
}

// REQUIRES: the period of a bucket that stays is the same.
void change_bucket(std::optional<TokenBucket>& bucket, const std::optional<Rate>& rate,
                   Instant now) {
  if (!rate) {
    bucket.reset();
  } else if (bucket) {
    bucket->change(rate->units, rate->capacity, now);
  } else {
    bucket.emplace(rate->units, rate->period, rate->capacity);
  }
}

std::int64_t most_tokens(const domain::Footprint& footprint) {
  return (footprint.prompt + footprint.max_output).value();
}

}  // namespace

TenantAccount::TenantAccount(const domain::Tenant& tenant, Ppm retry_budget)
    : tenant_(tenant), retry_budget_(retry_budget), retry_credit_(kRetryCreditAtStart) {
  change_buckets(Instant());
}

void TenantAccount::change(const domain::Tenant& tenant, Instant now) {
  TIDEGATE_CHECK(tenant.id == tenant_.id);
  tenant_ = tenant;
  change_buckets(now);
}

void TenantAccount::change_buckets(Instant now) {
  const domain::TenantLimits& limits = tenant_.limits;
  std::optional<std::int64_t> tokens;
  if (limits.tokens_per_min) tokens = limits.tokens_per_min->value();
  change_bucket(requests_, per_minute(limits.requests_per_min), now);
  change_bucket(tokens_, per_minute(tokens), now);
  change_bucket(guarantee_, rate_of(tenant_.guarantee), now);
}

std::optional<QuotaRefusal> TenantAccount::reserve(const domain::Request& request, Instant now,
                                                   Reservation& reservation) {
  const std::int64_t tokens = most_tokens(request.footprint);
  if (requests_ && !requests_->take(1, now, reservation.requests)) {
    return QuotaRefusal{Reason::kRequestRate, Resource::kTenantRequests,
                        requests_->wait_for(1, now)};
  }
  if (tokens_ && !tokens_->take(tokens, now, reservation.tokens)) {
    if (requests_) requests_->settle(reservation.requests, 0, now);
    reservation = {};
    return QuotaRefusal{Reason::kTokenRate, Resource::kTenantTokens,
                        tokens_->wait_for(tokens, now)};
  }
  alive_ += 1;
  reserved_tokens_ += reservation.tokens;
  return std::nullopt;
}

bool TenantAccount::guarantee(const domain::Request& request, Instant now,
                              Reservation& reservation) {
  if (!guarantee_) return false;
  const domain::Footprint& footprint = request.footprint;
  const std::int64_t tokens = most_tokens(footprint);
  if (footprint.prompt > tenant_.guarantee->prompt_tokens) return false;
  if (footprint.max_output > tenant_.guarantee->output_tokens) return false;
  if (tokens > guarantee_->capacity()) return false;
  return guarantee_->take(tokens, now, reservation.guaranteed);
}

void TenantAccount::settle(const Reservation& reservation, std::int64_t used_requests, Tokens used,
                           Instant now) {
  if (requests_) requests_->settle(reservation.requests, used_requests, now);
  if (tokens_) tokens_->settle(reservation.tokens, used.value(), now);
  if (guarantee_ && reservation.guaranteed > 0) {
    guarantee_->settle(reservation.guaranteed, std::min(used.value(), reservation.guaranteed), now);
  }
  alive_ -= 1;
  reserved_tokens_ -= reservation.tokens;
  TIDEGATE_CHECK(alive_ >= 0 && reserved_tokens_ >= 0);
}

bool TenantAccount::at_in_flight_limit() const {
  return tenant_.limits.in_flight && on_engines_ >= *tenant_.limits.in_flight;
}

void TenantAccount::count_first_try() {
  retry_credit_ = std::min(kRetryCreditMax, retry_credit_ + retry_budget_);
}

bool TenantAccount::take_retry() {
  if (retry_credit_ < Ppm(units::kMillion)) return false;
  retry_credit_ -= Ppm(units::kMillion);
  return true;
}

TenantHolds TenantAccount::holds(Instant now) const {
  TenantHolds holds{
      .alive = alive_, .on_engines = on_engines_, .reserved_tokens = reserved_tokens_};
  if (requests_) holds.requests_left = requests_->available(now);
  if (tokens_) holds.tokens_left = tokens_->available(now);
  return holds;
}

}  // namespace tidegate::pool
