// The step-time law: how long one engine step takes, from what is in it (docs/architecture.md).
//
// StepShape counts what a step contains; predict() turns it into time with an engine's
// coefficients; StepLaw adds the one slow multiplicative correction that is learned on line and the
// spread of its residuals. Every tier and world asks this file and nothing else for a step time
// (law 3). Pure values; integers only.
#pragma once

#include <cstdint>

#include "domain/engine_spec.h"
#include "units/quantity.h"

namespace tidegate::cost {

// What one step computes. Add decodes and chunks; the order does not matter.
struct StepShape {
  std::int64_t decodes = 0;         // n: sequences that produce one token
  std::int64_t kv_tokens = 0;       // K: resident tokens read by those decodes
  std::int64_t prefill_tokens = 0;  // P
  std::int64_t attention = 0;       // X = sum of chunk * (context + chunk / 2), in token^2

  // One decoding sequence that holds `context` tokens. REQUIRES: context >= 0.
  void add_decode(units::Tokens context);
  // A prefill chunk behind `context` tokens of the same sequence. REQUIRES: both >= 0.
  void add_chunk(units::Tokens context, units::Tokens chunk);
  bool empty() const { return decodes == 0 && prefill_tokens == 0; }

  friend bool operator==(const StepShape&, const StepShape&) = default;
};

// The law of domain/engine_spec.h, rounded up to a nanosecond; 0 for an empty step. Monotone in
// every count. Never overflows.
units::Nanos predict(const domain::StepCoefficients& law, const StepShape& shape);

// The coefficients of an engine together with what was learned while it ran.
class StepLaw {
 public:
  explicit StepLaw(const domain::StepCoefficients& law, bool calibrated = true);

  // Mean step time: predict() x correction.
  units::Nanos mean(const StepShape& shape) const;
  // The q90 of the step time: mean() x the learned spread. Deadlines are protected with this one.
  units::Nanos guarded(const StepShape& shape) const;
  // The largest chunk in [0, limit] that can be added to `shape` behind `context` tokens so that
  // guarded() stays <= budget; 0 if none. guarded() is monotone in the chunk, so this is a
  // bisection: O(log limit), exact, and it holds for any shape of the law.
  units::Tokens largest_chunk(const StepShape& shape, units::Tokens context, units::Nanos budget,
                              units::Tokens limit) const;

  // A step of this shape took `actual`. The correction follows with a time constant of about a
  // minute of engine time (fast gains oscillate); the spread follows the q90 of actual / mean.
  // A single outlier moves neither by more than a bounded amount.
  void observe(const StepShape& shape, units::Nanos actual);

  const domain::StepCoefficients& coefficients() const { return law_; }
  units::Ppm correction() const { return correction_; }
  units::Ppm spread() const { return spread_; }
  // False until the law was measured or enough steps were observed: gates then run in shadow.
  bool calibrated() const { return calibrated_; }
  // Take over the correction that the engine tier reports for itself.
  void adopt(units::Ppm correction) { correction_ = correction; }

 private:
  domain::StepCoefficients law_;
  units::Ppm correction_{units::kMillion};
  units::Ppm spread_{1'100'000};  // q90 / mean before anything was seen
  units::Nanos observed_;         // predicted engine time seen so far, up to the window
  std::int64_t steps_ = 0;        // observed, counted until the law is calibrated
  bool calibrated_;
};

}  // namespace tidegate::cost
