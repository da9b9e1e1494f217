#include "batch/pace.h"

#include <algorithm>

#include "units/integer.h"

namespace tidegate::batch {

using units::Instant;
using units::Nanos;
using units::Tokens;

Nanos Pace::relaxed(Nanos decode_time) const {
  const BatchConfig& config = core_.config;
  // Many slow streams leave prompts a third of the time all the same.
  const Nanos most = std::max(config.pace_max, decode_time * 3 / 2);
  return std::clamp(decode_time * config.pace_factor, std::min(config.pace_min, most), most);
}

Nanos Pace::largest_gap(const Sequence& sequence) const {
  return std::max(sequence.promise().token_pace, core_.config.pace_max);
}

bool Pace::gates(const Sequence& sequence, Instant now, Nanos decode_time) const {
  const Instant due = sequence.promise().token_due(sequence.produced.value());
  return due != Instant::never() && now + decode_time <= due;
}

// A stream that is less than a pace ahead builds up slack, so that a step that takes longer than
// predicted does not break its promise. One that is further ahead spends a part of that evenly over
// its forecast rest: all streams of a step then bear about as much, whereas one that had spent its
// slack at once would hold all others to its pace until its end.
Nanos Pace::wanted_gap(Sequence& sequence, Instant now) const {
  const BatchConfig& config = core_.config;
  const domain::Promise& promise = sequence.promise();
  const Nanos pace = promise.token_pace;
  if (pace == Nanos(0)) return config.default_step_budget;
  const Nanos ahead = promise.token_due(sequence.produced.value()) - now - pace;
  if (ahead < pace) return units::scaled(pace, config.recovery_pace);
  const Tokens left = core_.remaining(sequence).mean;
  const Nanos even =
      units::scaled(ahead, config.slack_spent) / std::max<std::int64_t>(1, left.value());
  return std::max(pace, std::min(pace + even, config.pace_max));
}

Instant Pace::wanted_by(const Sequence& sequence, Instant now, Nanos decode_time) const {
  if (!gates(sequence, now, decode_time)) return sequence.last_token_at + relaxed(decode_time);
  return std::min(sequence.promise().token_due(sequence.produced.value()),
                  sequence.last_token_at + largest_gap(sequence));
}

StepBudget Pace::above(std::span<const Index> decodes, const cost::StepShape& shape,
                       Instant now) const {
  const BatchConfig& config = core_.config;
  if (decodes.empty()) return {.wanted = config.default_step_budget, .hard = Nanos::max()};
  const Nanos decode_time = core_.law.guarded(shape);
  const Nanos relaxed_gap = relaxed(decode_time);
  StepBudget budget{.wanted = Nanos::max(), .hard = Nanos::max()};
  for (const Index index : decodes) {
    Sequence& sequence = core_.sequences[index];
    if (gates(sequence, now, decode_time)) {
      budget.wanted = std::min(budget.wanted, wanted_gap(sequence, now));
      budget.hard = std::min(budget.hard, wanted_by(sequence, now, decode_time) - now);
    } else {
      budget.wanted = std::min(budget.wanted, relaxed_gap);
      budget.hard = std::min(budget.hard, std::max(config.pace_max, relaxed_gap) * 2);
    }
  }
  budget.wanted = std::min(budget.wanted, budget.hard);
  return budget;
}

// With W of work due in A, and D of every step for decodes, steps of length T leave (1 - D/T) of
// the time: T >= D * A / (A - W).
void Pace::below(StepBudget& budget, const cost::StepShape& shape, std::span<const Index> prompts,
                 Instant now) const {
  const Nanos decode_time = core_.law.guarded(shape);
  if (decode_time == Nanos(0)) return;
  cost::StepShape all = shape;
  for (const Index index : prompts) {
    const Sequence& sequence = core_.sequences[index];
    const Status status = core_.status(sequence, now, core_.own_work(sequence, Tokens(0)));
    if (status != Status::kProtected && status != Status::kAtRisk) continue;
    all.add_chunk(sequence.computed, sequence.pending());
    const Nanos work = core_.law.guarded(all) - decode_time;
    const Nanos time = sequence.promise().token_due(sequence.produced.value()) - now;
    const Nanos rest = time - work;
    const Nanos needed =
        rest > Nanos(0)
            ? Nanos(units::multiply_divide(decode_time.value(), time.value(), rest.value()))
            : Nanos::max();
    budget.demanded = std::max(budget.demanded, needed);
  }
  const Nanos ceiling = std::max(core_.config.default_step_budget, core_.config.pace_max * 2);
  budget.wanted = std::max(budget.wanted, std::min({budget.demanded, budget.hard, ceiling}));
}

void Pace::whole_tile(StepBudget& budget, const cost::StepShape& shape, Tokens context) const {
  cost::StepShape tile = shape;
  tile.add_chunk(context, core_.config.chunk_tile);
  const Nanos needed = core_.law.guarded(tile);
  budget.wanted =
      std::max(budget.wanted, std::min({needed, budget.hard, core_.config.pace_max * 2}));
}

}  // namespace tidegate::batch
