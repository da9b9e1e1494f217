// What a caller is told when it does not get (all of) what it asked for: one table from outcomes to
// HTTP, one error body, one list of headers. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/decision.h"
#include "domain/outcome.h"
#include "openai/headers.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::openai {

enum class Phase : std::uint8_t { kBeforeFirstByte, kStreaming };

// What goes over the wire.
enum class Form : std::uint8_t {
  kResult,      // the answer itself
  kErrorBody,   // status and error body
  kErrorEvent,  // the status is out already: error event, close without [DONE]
  kNothing,     // nobody is there to read it
};

struct HttpAnswer {
  int status = 0;  // for logs and metrics also where it cannot be sent any more
  Form form = Form::kNothing;
  bool retry_may_help = false;

  friend bool operator==(const HttpAnswer&, const HttpAnswer&) = default;
};

// The one table. Total: answers every combination, also those that should not occur.
HttpAnswer http_status(domain::Outcome outcome, domain::Reason reason, Phase phase);

// What the edge refuses before the core has seen a request.
enum class EdgeError : std::uint8_t {
  kInvalidRequest,     // 400
  kUnknownKey,         // 401
  kModelNotAllowed,    // 403
  kForbidden,          // 403, anything else
  kUnknownModel,       // 404
  kUnknownRoute,       // 404
  kMethodNotAllowed,   // 405, the caller adds `allow`
  kSameCallRuns,       // 409: the call with this idempotency key is not answered yet
  kSameCallAnswered,   // 409: it was, and its answer is not kept
  kBodyTooLarge,       // 413
  kUriTooLong,         // 414
  kUnsupportedMedia,   // 415
  kExpectationFailed,  // 417
  kKeyReused,          // 422: the idempotency key belongs to another call
  kHeadersTooLarge,    // 431
  kInternal,           // 500
  kUnsupported,        // 501: the engine of this model cannot do it
  kOverCapacity,       // 503: more connections than the server takes
};
inline constexpr int kEdgeErrorCount = 18;

struct Refusal {
  int status = 0;
  std::string message;
  std::string type;    // OpenAI's: "invalid_request_error", "rate_limit_error", ...
  std::string param;   // field at fault; empty: null
  std::string code;    // OpenAI's or ours; empty: null
  std::string reason;  // stable snake_case word: domain::name(Reason), or that of the edge error
  units::Nanos retry_after{0};  // 0: none
  std::string what_is_full;     // domain::name(Resource); empty: null
  bool should_retry = false;
};

// For the end of a request that was not completed. The retry hint is the decision's own; engine
// failures and shutdown, which need one in any case, get a short fixed one where it has none.
// REQUIRES: end.outcome != kCompleted.
Refusal refusal(const domain::End& end);
// `message` is one sentence for the caller; `param` the field or header at fault, or empty.
Refusal refusal(EdgeError error, std::string message, std::string param = {});
// Of a body or hint that did not parse: kInvalidRequest with the field as param.
Refusal refusal(const units::Error& error);
// Of the edge errors that carry `status`; kInternal for one that none carries.
EdgeError edge_error(int status);

// {"error":{"message","type","param","code","reason","retry_after_ms","what_is_full","request_id"}}
// Absent ones are null; request_id is left out when empty.
std::string error_body(const Refusal& refusal, std::string_view request_id = {});

// content-type, x-tidegate-reason, x-should-retry and, where there is a hint, retry-after (whole
// seconds, rounded up) and retry-after-ms (rounded up).
Headers refusal_headers(const Refusal& refusal);

}  // namespace tidegate::openai
