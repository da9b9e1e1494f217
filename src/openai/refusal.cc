#include "openai/refusal.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "units/check.h"

namespace tidegate::openai {

using domain::Outcome;
using domain::Reason;
using domain::Resource;

namespace {

// A hint for refusals that need one where the decision has none: engines are tried again, and a
// drained instance is replaced, within about a second.
constexpr units::Nanos kShortRetry = units::seconds(1);

bool nobody_serves(Reason reason) {
  return reason == Reason::kNoEngine || reason == Reason::kDraining ||
         reason == Reason::kEngineLost || reason == Reason::kEngineError;
}

// Nobody is there to serve: 503. Somebody is, but has too much to do: 429, the status that clients
// read as "slow down", whether it is the tenant's own limit or the pool that is full.
int status_before_first_byte(Outcome outcome, Reason reason) {
  switch (outcome) {
    case Outcome::kCompleted:
      return 200;
    case Outcome::kRejectedInvalid:
      return 400;
    case Outcome::kRejectedCapacity:
      return nobody_serves(reason) ? 503 : 429;
    case Outcome::kRejectedQuota:
      return 429;
    case Outcome::kDeadlineExceeded:
      return 504;
    case Outcome::kCancelled:
      return 499;
    case Outcome::kEngineFailed:
      return 502;
    case Outcome::kShutdown:
      return 503;
  }
  return 500;
}

bool retry_may_help(Outcome outcome) {
  return outcome == Outcome::kRejectedCapacity || outcome == Outcome::kRejectedQuota ||
         outcome == Outcome::kEngineFailed || outcome == Outcome::kShutdown;
}

std::string_view sentence(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "The request was not completed.";
    case Reason::kNeverFits:
      return "The prompt and the longest allowed answer together are larger than any engine of "
             "this model can hold; shorten the prompt or lower max_tokens.";
    case Reason::kNoEngine:
      return "No engine is up for this model.";
    case Reason::kFirstTokenTooLate:
      return "The first token could not be produced by the time promised.";
    case Reason::kPaceTooSlow:
      return "The promised pace of tokens could not be kept.";
    case Reason::kKvFull:
      return "No engine has the memory that this request is predicted to need.";
    case Reason::kSequencesFull:
      return "Every engine of this model runs as many requests as it can.";
    case Reason::kQueueFull:
      return "The queue of waiting requests is full.";
    case Reason::kOverFairShare:
      return "The pool is contended and this tenant is above its fair share.";
    case Reason::kRequestRate:
      return "The tenant's limit of requests per minute is reached.";
    case Reason::kTokenRate:
      return "The tenant's limit of tokens per minute is reached.";
    case Reason::kInFlight:
      return "The tenant's limit of requests in flight is reached.";
    case Reason::kTenantQueue:
      return "The tenant's limit of waiting requests is reached.";
    case Reason::kDeadlinePassed:
      return "The deadline passed.";
    case Reason::kCallerLeft:
      return "The caller went away.";
    case Reason::kEngineLost:
      return "The engine that ran the request was lost.";
    case Reason::kEngineError:
      return "The engine that ran the request failed.";
    case Reason::kDraining:
      return "The server is shutting down.";
  }
  return "The request was not completed.";
}

struct Kind {
  std::string_view type;
  std::string_view code;
};

Kind kind_of(Outcome outcome, Reason reason) {
  switch (outcome) {
    case Outcome::kRejectedInvalid:
      return {"invalid_request_error",
              reason == Reason::kNeverFits ? "context_length_exceeded" : "invalid_request"};
    case Outcome::kRejectedQuota:
      return {"rate_limit_error", "rate_limit_exceeded"};
    case Outcome::kRejectedCapacity:
      return nobody_serves(reason) ? Kind{"server_error", "service_unavailable"}
                                   : Kind{"rate_limit_error", "server_is_overloaded"};
    case Outcome::kDeadlineExceeded:
      return {"timeout_error", "deadline_exceeded"};
    case Outcome::kEngineFailed:
      return {"server_error", "engine_failed"};
    case Outcome::kShutdown:
      return {"server_error", "service_unavailable"};
    case Outcome::kCancelled:
    case Outcome::kCompleted:
      return {"server_error", ""};
  }
  return {"server_error", ""};
}

struct EdgeRow {
  EdgeError error;
  int status;
  std::string_view type;
  std::string_view code;
  std::string_view reason;
  bool should_retry;
};

constexpr std::string_view kInvalid = "invalid_request_error";

constexpr EdgeRow kEdgeRows[kEdgeErrorCount] = {
    {EdgeError::kInvalidRequest, 400, kInvalid, "invalid_request", "invalid_request", false},
    {EdgeError::kUnknownKey, 401, "authentication_error", "invalid_api_key", "unknown_key", false},
    {EdgeError::kModelNotAllowed, 403, "permission_error", "model_not_allowed", "model_not_allowed",
     false},
    {EdgeError::kForbidden, 403, "permission_error", "forbidden", "forbidden", false},
    {EdgeError::kUnknownModel, 404, kInvalid, "model_not_found", "unknown_model", false},
    {EdgeError::kUnknownRoute, 404, kInvalid, "unknown_url", "unknown_route", false},
    {EdgeError::kMethodNotAllowed, 405, kInvalid, "method_not_allowed", "method_not_allowed",
     false},
    {EdgeError::kSameCallRuns, 409, kInvalid, "idempotency_conflict", "same_call_runs", true},
    {EdgeError::kSameCallAnswered, 409, kInvalid, "idempotency_conflict", "same_call_answered",
     false},
    {EdgeError::kBodyTooLarge, 413, kInvalid, "request_too_large", "body_too_large", false},
    {EdgeError::kUriTooLong, 414, kInvalid, "uri_too_long", "uri_too_long", false},
    {EdgeError::kUnsupportedMedia, 415, kInvalid, "unsupported_media_type", "unsupported_media",
     false},
    {EdgeError::kExpectationFailed, 417, kInvalid, "expectation_failed", "expectation_failed",
     false},
    {EdgeError::kKeyReused, 422, kInvalid, "idempotency_conflict", "idempotency_key_reused", false},
    {EdgeError::kHeadersTooLarge, 431, kInvalid, "headers_too_large", "headers_too_large", false},
    {EdgeError::kInternal, 500, "server_error", "internal_error", "internal_error", false},
    {EdgeError::kUnsupported, 501, kInvalid, "unsupported", "unsupported", false},
    {EdgeError::kOverCapacity, 503, "server_error", "server_is_overloaded", "connections_full",
     true},
};

boost::json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::string(text);
}

boost::json::value milliseconds_or_null(units::Nanos span) {
  if (span <= units::Nanos(0)) return nullptr;
  return units::divide_up(span.value(), units::milliseconds(1).value());
}

}  // namespace

HttpAnswer http_status(Outcome outcome, Reason reason, Phase phase) {
  HttpAnswer answer;
  answer.status = status_before_first_byte(outcome, reason);
  answer.retry_may_help = retry_may_help(outcome);
  if (outcome == Outcome::kCompleted) {
    answer.form = Form::kResult;
  } else if (outcome == Outcome::kCancelled) {
    answer.form = Form::kNothing;
  } else {
    answer.form = phase == Phase::kStreaming ? Form::kErrorEvent : Form::kErrorBody;
  }
  return answer;
}

Refusal refusal(const domain::End& end) {
  TIDEGATE_CHECK(end.outcome != Outcome::kCompleted);
  const HttpAnswer answer = http_status(end.outcome, end.reason, Phase::kBeforeFirstByte);
  const Kind kind = kind_of(end.outcome, end.reason);
  const bool always_hints =
      end.outcome == Outcome::kEngineFailed || end.outcome == Outcome::kShutdown;
  Refusal made;
  made.status = answer.status;
  made.message = sentence(end.reason);
  made.type = kind.type;
  made.code = kind.code;
  made.reason = domain::name(end.reason);
  if (answer.retry_may_help) {
    const bool use_own = end.retry_after > units::Nanos(0) || !always_hints;
    made.retry_after = use_own ? end.retry_after : kShortRetry;
  }
  made.should_retry = made.retry_after > units::Nanos(0);
  if (end.full != Resource::kNone) made.what_is_full = domain::name(end.full);
  return made;
}

Refusal refusal(EdgeError error, std::string message, std::string param) {
  const EdgeRow& row = kEdgeRows[static_cast<std::size_t>(error)];
  TIDEGATE_CHECK(row.error == error);
  Refusal made;
  made.status = row.status;
  made.message = std::move(message);
  made.type = row.type;
  made.param = std::move(param);
  made.code = row.code;
  made.reason = row.reason;
  made.should_retry = row.should_retry;
  if (row.should_retry) made.retry_after = kShortRetry;
  return made;
}

Refusal refusal(const units::Error& error) {
  const std::string message =
      error.where.empty() ? error.message : error.where + " " + error.message + ".";
  return refusal(EdgeError::kInvalidRequest, message, error.where);
}

EdgeError edge_error(int status) {
  const auto row = std::find_if(std::begin(kEdgeRows), std::end(kEdgeRows),
                                [status](const EdgeRow& each) { return each.status == status; });
  return row == std::end(kEdgeRows) ? EdgeError::kInternal : row->error;
}

std::string error_body(const Refusal& refusal, std::string_view request_id) {
  boost::json::object error;
  error["message"] = refusal.message;
  error["type"] = refusal.type;
  error["param"] = text_or_null(refusal.param);
  error["code"] = text_or_null(refusal.code);
  error["reason"] = text_or_null(refusal.reason);
  error["retry_after_ms"] = milliseconds_or_null(refusal.retry_after);
  error["what_is_full"] = text_or_null(refusal.what_is_full);
  if (!request_id.empty()) error["request_id"] = boost::json::string_view(request_id);
  boost::json::object body;
  body["error"] = std::move(error);
  return boost::json::serialize(body);
}

Headers refusal_headers(const Refusal& refusal) {
  Headers headers;
  headers.emplace_back("content-type", "application/json");
  headers.emplace_back("x-tidegate-reason", refusal.reason);
  headers.emplace_back("x-should-retry", refusal.should_retry ? "true" : "false");
  if (refusal.retry_after > units::Nanos(0)) {
    const std::int64_t ns = refusal.retry_after.value();
    headers.emplace_back("retry-after",
                         std::to_string(units::divide_up(ns, units::seconds(1).value())));
    headers.emplace_back("retry-after-ms",
                         std::to_string(units::divide_up(ns, units::milliseconds(1).value())));
  }
  return headers;
}

}  // namespace tidegate::openai
