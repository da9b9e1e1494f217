// One number for a whole sequence of decisions: equal digests mean, for all practical purposes,
// byte-identical sequences (invariant D1). XXH3 over the encoding of each step's decisions, seeded
// with the digest so far. A value with one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "batch/step_plan.h"
#include "domain/decision.h"
#include "journal/codec.h"

namespace tidegate::journal {

class Digest {
 public:
  // Adds the decisions of one step, also when there were none. Linear in their encoding.
  void add(const std::vector<domain::Decision>& decisions);
  // Adds one engine step.
  void add(const batch::StepPlan& plan);
  std::uint64_t value() const { return value_; }

 private:
  void absorb();

  std::uint64_t value_ = 0;
  Bytes scratch_;
};

}  // namespace tidegate::journal
