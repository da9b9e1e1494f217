#include "domain/outcome.h"
#include "units/check.h"

namespace tidegate::domain {

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kRejectedInvalid:
      return "rejected_invalid";
    case Outcome::kRejectedCapacity:
      return "rejected_capacity";
    case Outcome::kRejectedQuota:
      return "rejected_quota";
    case Outcome::kDeadlineExceeded:
      return "deadline_exceeded";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kEngineFailed:
      return "engine_failed";
    case Outcome::kShutdown:
      return "shutdown";
  }
  units::check_failed("unknown Outcome", __FILE__, __LINE__);
}

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "none";
    case Reason::kNeverFits:
      return "never_fits";
    case Reason::kNoEngine:
      return "no_engine";
    case Reason::kFirstTokenTooLate:
      return "first_token_too_late";
    case Reason::kPaceTooSlow:
      return "pace_too_slow";
    case Reason::kKvFull:
      return "kv_full";
    case Reason::kSequencesFull:
      return "sequences_full";
    case Reason::kQueueFull:
      return "queue_full";
    case Reason::kOverFairShare:
      return "over_fair_share";
    case Reason::kRequestRate:
      return "request_rate";
    case Reason::kTokenRate:
      return "token_rate";
    case Reason::kInFlight:
      return "in_flight";
    case Reason::kTenantQueue:
      return "tenant_queue";
    case Reason::kDeadlinePassed:
      return "deadline_passed";
    case Reason::kCallerLeft:
      return "caller_left";
    case Reason::kEngineLost:
      return "engine_lost";
    case Reason::kEngineError:
      return "engine_error";
    case Reason::kDraining:
      return "draining";
  }
  units::check_failed("unknown Reason", __FILE__, __LINE__);
}

std::string_view name(Resource resource) {
  switch (resource) {
    case Resource::kNone:
      return "none";
    case Resource::kStepTime:
      return "step_time";
    case Resource::kKvBlocks:
      return "kv_blocks";
    case Resource::kSequences:
      return "sequences";
    case Resource::kQueue:
      return "queue";
    case Resource::kTenantRequests:
      return "tenant_requests";
    case Resource::kTenantTokens:
      return "tenant_tokens";
    case Resource::kTenantSlots:
      return "tenant_slots";
  }
  units::check_failed("unknown Resource", __FILE__, __LINE__);
}

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::kGuaranteed:
      return "guaranteed";
    case Tier::kWithinShare:
      return "within_share";
    case Tier::kAboveShare:
      return "above_share";
    case Tier::kBestEffort:
      return "best_effort";
  }
  units::check_failed("unknown Tier", __FILE__, __LINE__);
}

}  // namespace tidegate::domain
