// Which streams have a turn in the step: all of them, but for limits and guarantees.
#include <algorithm>

#include "batch/composer.h"

namespace tidegate::batch {

using domain::Tier;
using units::Nanos;
using units::Tokens;

void Composer::take_decodes() {
  for (const Index index : decodes_) {
    Sequence& sequence = core_.sequences[index];
    core_.kv.extend(sequence.slot, sequence.length());
    sequence.take = Tokens(1);
  }
}

// No prompt could use the time that they gave up.
void Composer::resume_skipped() {
  core_.counters.skipped_decodes -= sat_out_;
  sat_out_ = 0;
  decodes_.clear();
  for (const Index index : core_.sequences.running()) {
    if (core_.sequences[index].decoding()) decodes_.push_back(index);
  }
  measure_decodes();
  sort_decodes();
  limit_decodes();
  take_decodes();
}

void Composer::measure_decodes() {
  shape_ = {};
  for (const Index index : decodes_) shape_.add_decode(core_.sequences[index].computed);
  decode_time_ = core_.law.guarded(shape_);
}

void Composer::sort_decodes() {
  for (const Index index : decodes_) {
    Sequence& sequence = core_.sequences[index];
    sequence.wanted_by = pace_.wanted_by(sequence, now_, decode_time_);
  }
  std::sort(decodes_.begin(), decodes_.end(), [&](Index a, Index b) {
    const Sequence& first = core_.sequences[a];
    const Sequence& second = core_.sequences[b];
    if (first.wanted_by != second.wanted_by) return first.wanted_by < second.wanted_by;
    return first.order < second.order;
  });
}

// More streams than a step has room for take turns, most urgent first; prompts keep a little.
void Composer::limit_decodes() {
  const std::int64_t limit = core_.config.spec.limits.max_step_tokens.value();
  const bool prompts = !prompts_.empty() || !core_.sequences.waiting().empty();
  const std::int64_t kept =
      prompts ? std::min(core_.config.min_chunk.value(), limit / 4) : std::int64_t{0};
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, limit - kept));
  if (decodes_.size() <= room) return;
  decodes_.resize(room);
  measure_decodes();
}

// Guaranteed prompts that do not fit into the step beside the streams of best effort have the turns
// of these too. Those that fit take nobody's turn, or streams that sat out for them could not sit
// out for the next that does not.
void Composer::leave_to_guaranteed(std::span<const Index> in_order) {
  cost::StepShape with_them = shape_;
  for (const Index index : in_order) {
    const Sequence& prompt = core_.sequences[index];
    if (prompt.tier() != Tier::kGuaranteed) break;
    with_them.add_chunk(prompt.computed, prompt.pending());
  }
  if (core_.law.guarded(with_them) <= budget_.wanted) return;
  const Nanos step = std::min(budget_.hard, core_.config.pace_max);
  const auto leaves = [&](Index index) {
    const Sequence& stream = core_.sequences[index];
    return stream.tier() > Tier::kGuaranteed && stream.promise().best_effort() &&
           now_ + step * 2 <= stream.last_token_at + core_.config.best_effort_pause;
  };
  sat_out_ = static_cast<std::int64_t>(std::erase_if(decodes_, leaves));
  if (sat_out_ == 0) return;
  core_.counters.skipped_decodes += sat_out_;
  measure_decodes();
  budget_ = pace_.above(decodes_, shape_, now_);
  budget_.hard = std::min(budget_.hard, step);
  budget_.wanted = std::min(budget_.wanted, budget_.hard);
  pace_.below(budget_, shape_, in_order, now_);
  pace_.whole_tile(budget_, shape_, core_.sequences[in_order.front()].computed);
}

}  // namespace tidegate::batch
