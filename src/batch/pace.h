// How long the next step may be (scheduling, 2 and 7): the two-sided budget in time.
//
// From above, the running streams: a protected one must have its next token by its due time, and,
// however much slack it has built up, no later than its own pace after the last one (or pace_max,
// if that is longer), so that streams do not stutter. It wants less: nine tenths of its pace until
// it is a pace ahead, then its pace and an even part of half its slack. Streams without a promise
// want a step of at most pace_factor pure decode steps. From below, the waiting prompts: by
// deadline order their prefix sums of work need a share of the time, hence a step of a certain
// length. Pure arithmetic on a Core; one owner.
#pragma once

#include <cstdint>
#include <span>

#include "batch/core.h"

namespace tidegate::batch {

struct StepBudget {
  units::Nanos wanted{0};    // what streams would like, stretched to what prompts need
  units::Nanos hard{0};      // what protected streams can bear
  units::Nanos demanded{0};  // what deadlines of prompts need
};

class Pace {
 public:
  explicit Pace(Core& core) : core_(core) {}

  // Step length that streams without a promise want, given the time of the decodes alone.
  units::Nanos relaxed(units::Nanos decode_time) const;

  // When a decoding sequence's next token is wanted; orders decodes. Never in the past for missed
  // ones: they are treated like those without a promise.
  units::Instant wanted_by(const Sequence& sequence, units::Instant now,
                           units::Nanos decode_time) const;

  // The bounds from above, for these decodes with this shape.
  StepBudget above(std::span<const Index> decodes, const cost::StepShape& shape,
                   units::Instant now) const;

  // Adds the bound from below, for prompts in order of service; only promised ones that can still
  // make it count.
  void below(StepBudget& budget, const cost::StepShape& shape, std::span<const Index> prompts,
             units::Instant now) const;

  // Lengthens the step, within what streams can bear and twice pace_max, so that a prompt behind
  // `context` tokens gets a tile of the engine's kernels: a smaller step would hardly be shorter.
  void whole_tile(StepBudget& budget, const cost::StepShape& shape, units::Tokens context) const;

 private:
  bool gates(const Sequence& sequence, units::Instant now, units::Nanos decode_time) const;
  units::Nanos wanted_gap(Sequence& sequence, units::Instant now) const;
  units::Nanos largest_gap(const Sequence& sequence) const;

  Core& core_;
};

}  // namespace tidegate::batch
