// The closed lists of what can happen to a request and why. Low cardinality by construction: they
// label metrics, journal records and answers alike. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidegate::domain {

// How a request ended. Terminal and absorbing: each request reaches exactly one (invariant S3).
enum class Outcome : std::uint8_t {
  kCompleted,
  kRejectedInvalid,   // could never run here, whatever the load
  kRejectedCapacity,  // the pool cannot keep the promise now
  kRejectedQuota,     // a limit of the tenant itself
  kDeadlineExceeded,
  kCancelled,  // the caller went away
  kEngineFailed,
  kShutdown,
};
inline constexpr int kOutcomeCount = 8;

// Why a request was refused, held or ended.
enum class Reason : std::uint8_t {
  kNone,
  kNeverFits,          // prompt + max output exceed what any engine of the model can hold
  kNoEngine,           // no live engine serves the model
  kFirstTokenTooLate,  // waiting is hopeless: the first token would miss its due time
  kPaceTooSlow,        // the token pace could not be kept (for this request or for those running)
  kKvFull,             // no engine has the KV blocks of the predicted peak
  kSequencesFull,      // every engine runs as many sequences as it can
  kQueueFull,          // the pool's own bound on waiting requests
  kOverFairShare,      // contended, and the tenant is above its share
  kRequestRate,        // tenant limit: requests per minute
  kTokenRate,          // tenant limit: tokens per minute
  kInFlight,           // tenant limit: requests in flight
  kTenantQueue,        // tenant limit: requests waiting
  kDeadlinePassed,
  kCallerLeft,
  kEngineLost,
  kEngineError,
  kDraining,
};
inline constexpr int kReasonCount = 18;

// What ran out; every refusal names one, and its retry hint is the predicted drain of exactly that.
enum class Resource : std::uint8_t {
  kNone,
  kStepTime,
  kKvBlocks,
  kSequences,
  kQueue,
  kTenantRequests,
  kTenantTokens,
  kTenantSlots,
};
inline constexpr int kResourceCount = 8;

// Tiers are strict and work-conserving downwards; a lower number is served first.
enum class Tier : std::uint8_t { kGuaranteed, kWithinShare, kAboveShare, kBestEffort };
inline constexpr int kTierCount = 4;

// Stable snake_case names, used in headers, metrics, journals and tests.
std::string_view name(Outcome outcome);
std::string_view name(Reason reason);
std::string_view name(Resource resource);
std::string_view name(Tier tier);

}  // namespace tidegate::domain
