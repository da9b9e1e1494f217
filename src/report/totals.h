// What a run gave, for everything together and for each class, tenant, model and GPU: the `totals`
// of the report schema. Requests are added one by one when they end; memory stays
// flat. Plain values, one owner.
#pragma once

#include <array>
#include <cstdint>

#include "domain/outcome.h"
#include "domain/promise.h"
#include "report/histogram.h"
#include "units/quantity.h"

namespace tidegate::report {

// One request from arrival to end, as the caller saw it. Times of tokens that never came are 0.
struct RequestRecord {
  domain::Outcome outcome = domain::Outcome::kCompleted;
  domain::Reason reason = domain::Reason::kNone;
  domain::Promise promise;  // the one it arrived with
  bool admitted = false;
  bool downgraded = false;
  bool residue = false;  // the run ended before the request did: counts as a miss
  units::Instant arrival;
  units::Instant started;  // sent to an engine
  units::Instant first_token;
  units::Instant last_token;
  units::Instant ended;          // the caller heard so; 0 for residue
  units::Nanos largest_gap{0};   // between neighbouring tokens
  std::int64_t late_tokens = 0;  // tokens after their due time
  units::Tokens input{0};
  units::Tokens output{0};
  std::int64_t preemptions = 0;
  units::Tokens recomputed{0};
};

// Refused, at arrival or while it waited.
bool is_refusal(domain::Outcome outcome);

// Every token of a completed request came by its due time (scheduling, 2). Best effort counts as
// kept when it completed.
bool kept_promise(const RequestRecord& record);

struct Totals {
  std::int64_t offered = 0;
  std::int64_t admitted = 0;
  std::int64_t completed = 0;
  std::int64_t cancelled = 0;
  std::int64_t failed = 0;
  std::int64_t downgraded = 0;
  std::int64_t residue = 0;
  std::array<std::int64_t, domain::kReasonCount> rejected{};
  std::int64_t kept = 0;           // promises, of all offered
  std::int64_t kept_admitted = 0;  // of those admitted
  Histogram ttft;
  Histogram tpot;
  Histogram max_gap;
  Histogram e2e;
  Histogram queue;
  units::Tokens input_tokens{0};
  units::Tokens output_tokens{0};
  std::int64_t preemptions = 0;
  units::Tokens recomputed_tokens{0};

  void add(const RequestRecord& record);
  // Adds what another run or part gave.
  void add(const Totals& other);
  // Shares of kept promises; 1 when there was nothing to keep.
  double attainment_offered() const;
  double attainment_admitted() const;
};

}  // namespace tidegate::report
