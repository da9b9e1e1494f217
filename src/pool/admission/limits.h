// What each tenant holds of its own limits: requests and tokens per minute, requests on engines,
// the guaranteed envelope, and the budget for repeated requests.
//
// Reserve, then settle: an arrival reserves one request and prompt + max_output tokens (cut to the
// whole limit), so that concurrent requests never pass a limit together (invariant S8). At its end
// the difference to what it used (prompt + output) is given back. A refused request used nothing.
// One owner; exact integers; no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/outcome.h"
#include "domain/request.h"
#include "domain/tenant.h"
#include "pool/admission/token_bucket.h"

namespace tidegate::pool {

// What one request holds; settled exactly once.
struct Reservation {
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
  std::int64_t guaranteed = 0;
};

struct QuotaRefusal {
  domain::Reason reason = domain::Reason::kNone;
  domain::Resource full = domain::Resource::kNone;
  units::Nanos drains_in{0};
};

// For metrics, headers and the admin API.
struct TenantHolds {
  std::int64_t alive = 0;
  std::int64_t on_engines = 0;
  std::int64_t reserved_tokens = 0;
  std::optional<std::int64_t> requests_left{};  // of this minute; none = no limit
  std::optional<std::int64_t> tokens_left{};
};

class TenantAccount {
 public:
  TenantAccount(const domain::Tenant& tenant, units::Ppm retry_budget);

  // Other limits, envelope and behaviour from now on. What is reserved stays so; a bucket keeps the
  // share of it that is left, a new one starts full. REQUIRES: tenant.id is the same.
  void change(const domain::Tenant& tenant, units::Instant now);
  // Reserves for `request`, or says what is used up; then nothing is held.
  std::optional<QuotaRefusal> reserve(const domain::Request& request, units::Instant now,
                                      Reservation& reservation);
  // Takes the request's tokens out of the guaranteed envelope; false when it does not cover it.
  bool guarantee(const domain::Request& request, units::Instant now, Reservation& reservation);
  // The one end of a reservation.
  void settle(const Reservation& reservation, std::int64_t used_requests, units::Tokens used,
              units::Instant now);

  void started() { on_engines_ += 1; }
  void stopped() { on_engines_ -= 1; }
  // As many requests on engines as the tenant may have.
  bool at_in_flight_limit() const;
  // May a repeated request wait? Takes one from the budget, to which first tries add.
  void count_first_try();
  bool take_retry();

  TenantHolds holds(units::Instant now) const;
  const domain::Tenant& tenant() const { return tenant_; }

 private:
  void change_buckets(units::Instant now);

  domain::Tenant tenant_;
  std::optional<TokenBucket> requests_;
  std::optional<TokenBucket> tokens_;
  std::optional<TokenBucket> guarantee_;
  units::Ppm retry_budget_;
  units::Ppm retry_credit_;
  std::int64_t alive_ = 0;
  std::int64_t on_engines_ = 0;
  std::int64_t reserved_tokens_ = 0;
};

}  // namespace tidegate::pool
