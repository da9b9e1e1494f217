#include "baselines/engine/step_draft.h"

#include <algorithm>

#include "cost/kv_law.h"
#include "units/check.h"

namespace tidegate::baselines {

using batch::KvBlocks;
using batch::Sequence;
using units::Blocks;
using units::Tokens;

StepDraft::StepDraft(batch::Core& core) : core_(core) {
  decodes_.reserve(static_cast<std::size_t>(core.config.spec.limits.max_sequences));
}

void StepDraft::begin(Tokens budget, units::Instant now) {
  now_ = now;
  shape_ = {};
  preempted_ = false;
  decodes_.clear();
  tokens_left_ = std::min(budget, core_.config.spec.limits.max_step_tokens).value();
  core_.begin_plan();
  for (const Index index : core_.sequences.running()) core_.sequences[index].take = Tokens(0);
}

void StepDraft::commit() {
  // Nothing runs and nothing could start: the belief in less memory than there is was wrong.
  const bool stuck = shape_.empty() && core_.kv.running() == 0 && core_.sequences.size() > 0;
  if (stuck) core_.kv.believe(core_.kv.total());
  core_.write_plan(decodes_, shape_, now_);
}

bool StepDraft::add_decode(Index index) {
  Sequence& sequence = core_.sequences[index];
  TIDEGATE_CHECK(sequence.decoding() && sequence.take == Tokens(0));
  if (tokens_left_ == 0) return false;
  if (core_.kv.growth(sequence.slot, sequence.length()) > core_.kv.available()) return false;
  core_.kv.extend(sequence.slot, sequence.length());
  shape_.add_decode(sequence.computed);
  sequence.take = Tokens(1);
  tokens_left_ -= 1;
  decodes_.push_back(index);
  return true;
}

Tokens StepDraft::affordable(const Sequence& sequence, Tokens context, Tokens limit) const {
  // A failed step asks for less prefill in the next (batch/batch_scheduler.h, fail_step).
  const std::int64_t cap = std::min(tokens_left_, core_.prefill_cap - shape_.prefill_tokens);
  return std::max(Tokens(0), std::min({sequence.length() - context, limit, Tokens(cap)}));
}

bool StepDraft::add_chunk(Index index, Tokens limit) {
  Sequence& sequence = core_.sequences[index];
  TIDEGATE_CHECK(sequence.running() && !sequence.decoding() && sequence.take == Tokens(0));
  const Tokens chunk = affordable(sequence, sequence.computed, limit);
  if (chunk == Tokens(0)) return true;
  if (core_.kv.growth(sequence.slot, sequence.computed + chunk) > core_.kv.available()) {
    return false;
  }
  take(sequence, chunk);
  return true;
}

void StepDraft::take(Sequence& sequence, Tokens chunk) {
  core_.kv.extend(sequence.slot, sequence.computed + chunk);
  shape_.add_chunk(sequence.computed, chunk);
  sequence.take = chunk;
  tokens_left_ -= chunk.value();
}

StepDraft::Start StepDraft::start(Index index, const StartRule& rule) {
  Sequence& sequence = core_.sequences[index];
  if (core_.kv.running() >= core_.config.spec.limits.max_sequences) return Start::kNoSlot;
  const KvBlocks::Hit hit =
      core_.kv.find(sequence.assign.request.prefix, sequence.length() - Tokens(1));
  const Tokens found(hit.blocks * core_.block_tokens());
  const Tokens chunk = affordable(sequence, found, rule.limit);
  const bool whole = found + chunk == sequence.length();
  if (chunk == Tokens(0) || (rule.unchunked && !whole)) return Start::kNoTokens;
  const Tokens reach = rule.whole_prompt ? sequence.length() : found + chunk;
  const Blocks needed =
      core_.kv.open_cost(hit) +
      cost::blocks_for({.block_tokens = core_.config.spec.kv.block_tokens}, reach) -
      Blocks(hit.blocks);
  // An empty engine takes whatever can ever fit.
  const Blocks kept = core_.kv.running() == 0 ? Blocks(0) : rule.kept_free;
  if (needed + kept > core_.kv.available()) return Start::kNoMemory;
  core_.open(index, hit);
  if (!sequence.decoding()) {
    take(sequence, chunk);
    return Start::kStarted;
  }
  // It came back to find all but its last token in place.
  TIDEGATE_CHECK(add_decode(index));
  return Start::kStarted;
}

void StepDraft::preempt(Index index) {
  Sequence& sequence = core_.sequences[index];
  if (sequence.take > Tokens(0)) {
    const bool decode = sequence.decoding();
    if (decode) {
      shape_.decodes -= 1;
      shape_.kv_tokens -= sequence.computed.value();
      std::erase(decodes_, index);
    } else {
      cost::StepShape chunk;
      chunk.add_chunk(sequence.computed, sequence.take);
      shape_.prefill_tokens -= chunk.prefill_tokens;
      shape_.attention -= chunk.attention;
    }
    tokens_left_ += sequence.take.value();
  }
  core_.preempt(index);
  preempted_ = true;
}

}  // namespace tidegate::baselines
