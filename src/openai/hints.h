// What a caller may say about a request beside its body: class, latency wishes, fairness key, how
// often it has tried. Hints are wishes; what a tenant may ask for is the gateway's decision. Pure
// and thread-safe.
//
// Understood, first one given wins within a line:
//   x-tidegate-class
//   x-tidegate-ttft-ms, x-llm-d-slo-ttft-ms, x-slo-ttft-ms
//   x-tidegate-tpot-ms, x-llm-d-slo-tpot-ms, x-slo-tpot-ms
//   x-tidegate-deadline-ms
//   x-llm-d-inference-fairness-id, x-gateway-inference-fairness-id
//   x-llm-d-inference-objective
//   x-stainless-retry-count, idempotency-key
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "openai/headers.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::openai {

struct Hints {
  std::string service_class;             // empty: none
  std::optional<units::Nanos> ttft;      // > 0, at most a day
  std::optional<units::Nanos> tpot;      // > 0, at most a day
  std::optional<units::Nanos> deadline;  // from arrival; > 0, at most 30 days
  std::string fairness_id;               // empty: none
  std::string objective;                 // empty: none
  std::uint8_t caller_retries = 0;       // capped at 255
  std::string idempotency_key;           // empty: none
};

// Milliseconds are decimal with at most six places after the point, read exactly. Error: names the
// header; for a value that is malformed, out of range, longer than 256 bytes, with bytes that are
// not printable ASCII, or for one of these headers given twice.
// REQUIRES: header names lower-case.
units::Result<Hints> parse_hints(const Headers& headers);

}  // namespace tidegate::openai
