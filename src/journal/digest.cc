#include "journal/digest.h"

#include <xxhash.h>

namespace tidegate::journal {

void Digest::add(const std::vector<domain::Decision>& decisions) {
  encode(decisions, scratch_);
  absorb();
}

void Digest::add(const batch::StepPlan& plan) {
  encode(plan, scratch_);
  absorb();
}

void Digest::absorb() {
  value_ = XXH3_64bits_withSeed(scratch_.data(), scratch_.size(), value_);
  scratch_.clear();
}

}  // namespace tidegate::journal
