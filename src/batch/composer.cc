#include "batch/composer.h"

#include <algorithm>

#include "cost/kv_law.h"
#include "units/check.h"
#include "units/integer.h"

namespace tidegate::batch {

using domain::Tier;
using units::Blocks;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

// Waiting tries looked at in one step; the rest is behind them in order anyway.
constexpr std::size_t kLookAhead = 16;
// Waiting tries that may ask others to make way in one step.
constexpr std::size_t kUrgentHeads = 4;
// Steps after which a refused try is looked at again though no memory was released.
constexpr std::int64_t kRetrySteps = 4;

}  // namespace

Composer::Composer(Core& core) : core_(core), reservation_(core), victims_(core), pace_(core) {
  const auto running = static_cast<std::size_t>(core.config.spec.limits.max_sequences);
  decodes_.reserve(running);
  prompts_.reserve(running);
  in_order_.reserve(running + kLookAhead);
}

void Composer::compose(Instant now) {
  reset(now);
  demote_late();
  let_urgent_in();
  grow_decodes();
  plan_decodes();
  plan_prompts();
  if (shape_.prefill_tokens == 0 && sat_out_ > 0) resume_skipped();
  while (core_.kv.running() > 0 && shape_.empty() && give_way()) plan_prompts();
  core_.write_plan(decodes_, shape_, now_);
}

bool Composer::shed_one(Instant now) {
  const Index victim = victims_.worst(now);
  if (victim == SequenceTable::kNone) return false;
  core_.preempt(victim);
  return true;
}

void Composer::reset(Instant now) {
  now_ = now;
  shape_ = {};
  core_.begin_plan();
  started_ = 0;
  sat_out_ = 0;
  const bool put_off = drip_due_ && made_way_;
  drip_due_ = put_off || (core_.counters.steps + 1) % core_.config.drip_interval == 0;
  made_way_ = false;
  blocked_ = SequenceTable::kNone;
  waiting_closed_ = false;
}

bool Composer::late(const Sequence& sequence) const {
  if (sequence.key.rank != StartRank::kPromised) return false;
  const Tokens found(
      core_.kv.find(sequence.assign.request.prefix, sequence.length() - Tokens(1)).blocks *
      core_.block_tokens());
  const Status status = core_.status(sequence, now_, core_.own_work(sequence, found));
  return status == Status::kMissed || status == Status::kHopeless;
}

// Those that cannot make it any more go behind those that can, as if nothing had been promised:
// deadline order among late ones would make each of them delay the next (scheduling, 3).
void Composer::demote_late() {
  const auto demoted = [&](const Sequence& sequence) {
    StartKey key = sequence.key;
    key.rank = StartRank::kUnpromised;
    key.due = core_.virtual_due(sequence.assign.request);
    return key;
  };
  for (const Index index : core_.sequences.running()) {
    Sequence& sequence = core_.sequences[index];
    if (!sequence.decoding() && late(sequence)) sequence.key = demoted(sequence);
  }
  std::size_t at = 0;
  for (std::size_t looked = 0; looked < 2 * kLookAhead; ++looked) {
    if (at >= core_.sequences.waiting().size()) return;
    const Index index = core_.sequences.waiting()[at];
    if (late(core_.sequences[index])) {
      core_.sequences.reorder(index, demoted(core_.sequences[index]));
    } else {
      ++at;
    }
  }
}

// Waiting longer would cost the promise: half of the time there was is gone, or what is left is no
// more than twice the work.
bool Composer::urgent(const Sequence& head) const {
  const Instant due = head.promise().token_due(head.produced.value());
  if (due == Instant::never() || due < now_) return false;
  const Nanos work = core_.own_work(head, Tokens(0));
  const Nanos slack = due - now_;
  return slack <= std::max(work * 2, (due - head.assign.request.arrival) / 2 + work);
}

bool Composer::can_start(Index head, const KvBlocks::Hit& hit, std::int64_t before_it) {
  return core_.kv.running() + before_it < core_.config.spec.limits.max_sequences &&
         core_.kv.open_cost(hit) < core_.kv.available() && reservation_.fits(head, hit, {});
}

void Composer::let_urgent_in() {
  const auto& sequences = core_.sequences;
  const std::size_t heads = std::min(kUrgentHeads, sequences.waiting().size());
  for (std::size_t i = 0; i < heads; ++i) {
    const Index head = sequences.waiting()[i];
    std::int64_t lower = 0;
    for (int tier = static_cast<int>(sequences[head].tier()) + 1; tier < domain::kTierCount;
         ++tier) {
      lower += sequences.running_in(static_cast<Tier>(tier));
    }
    if (lower == 0 || !urgent(sequences[head])) continue;
    const KvBlocks::Hit hit =
        core_.kv.find(sequences[head].assign.request.prefix, sequences[head].length() - Tokens(1));
    if (can_start(head, hit, static_cast<std::int64_t>(i))) continue;
    for (const Index victim : victims_.make_way(head, hit, reservation_, now_)) {
      core_.preempt(victim);
      made_way_ = true;
    }
    return;
  }
}

Blocks Composer::decode_growth() const {
  Blocks growth(0);
  for (const Index index : core_.sequences.running()) {
    const Sequence& sequence = core_.sequences[index];
    if (sequence.decoding()) growth += core_.kv.growth(sequence.slot, sequence.length());
  }
  return growth;
}

bool Composer::give_way() {
  const Index victim = victims_.worst(now_);
  if (victim != SequenceTable::kNone) {
    core_.preempt(victim);
    return true;
  }
  if (core_.kv.believed() == core_.kv.total()) return false;
  core_.kv.believe(core_.kv.total());
  return true;
}

void Composer::grow_decodes() {
  while (decode_growth() > core_.kv.available()) TIDEGATE_CHECK(give_way());
}

void Composer::plan_decodes() {
  decodes_.clear();
  for (const Index index : core_.sequences.running()) {
    Sequence& sequence = core_.sequences[index];
    sequence.take = Tokens(0);
    if (sequence.decoding()) decodes_.push_back(index);
  }
  collect_prompts();
  measure_decodes();
  sort_decodes();
  limit_decodes();
  budget_ = pace_.above(decodes_, shape_, now_);
  const std::span<const Index> in_order = prompts_in_order();
  pace_.below(budget_, shape_, in_order, now_);
  if (!in_order.empty()) {
    pace_.whole_tile(budget_, shape_, core_.sequences[in_order.front()].computed);
  }
  if (!in_order.empty() && core_.sequences[in_order.front()].tier() == Tier::kGuaranteed) {
    leave_to_guaranteed(in_order);
  }
  take_decodes();
}

std::span<const Index> Composer::prompts_in_order() {
  const auto& waiting = core_.sequences.waiting();
  const auto heads = static_cast<std::ptrdiff_t>(std::min(kLookAhead, waiting.size()));
  in_order_.resize(prompts_.size() + static_cast<std::size_t>(heads));
  std::merge(prompts_.begin(), prompts_.end(), waiting.begin(), waiting.begin() + heads,
             in_order_.begin(),
             [&](Index a, Index b) { return core_.sequences[a].key < core_.sequences[b].key; });
  return in_order_;
}

void Composer::collect_prompts() {
  prompts_.clear();
  for (const Index index : core_.sequences.running()) {
    if (!core_.sequences[index].decoding()) prompts_.push_back(index);
  }
  std::sort(prompts_.begin(), prompts_.end(),
            [&](Index a, Index b) { return core_.sequences[a].key < core_.sequences[b].key; });
}

void Composer::plan_prompts() {
  collect_prompts();
  next_prompt_ = 0;
  next_waiting_ = 0;
  limited_ = SequenceTable::kNone;
  partial_ = static_cast<std::int64_t>(prompts_.size());
  tokens_left_ = std::min(core_.prefill_cap, core_.config.spec.limits.max_step_tokens.value() -
                                                 static_cast<std::int64_t>(decodes_.size()));
  const bool idle = prompts_.empty() && core_.sequences.waiting().empty();
  if (idle) {
    core_.starved_steps = 0;
    return;
  }
  give_floor();
  if (drip_due_ && !made_way_) drip();
  serve_prompts();
  // Where every sequence is taken it is not time that is wanting.
  const bool seats_full =
      prompts_.empty() && core_.kv.running() >= core_.config.spec.limits.max_sequences;
  const bool got_on = shape_.prefill_tokens > 0 || seats_full;
  core_.starved_steps = got_on ? 0 : core_.starved_steps + 1;
}

Index Composer::oldest(const std::vector<Index>& list) const {
  if (list.empty()) return SequenceTable::kNone;
  return *std::min_element(list.begin(), list.end(), [&](Index a, Index b) {
    return core_.sequences[a].order < core_.sequences[b].order;
  });
}

// Every sequence is taken and one waits that is due before the next prompt: only streams that end
// make room for it, so they go first and prompts behind it keep no more than their floor.
bool Composer::seats_come_first() const {
  const auto& waiting = core_.sequences.waiting();
  if (core_.kv.running() < core_.config.spec.limits.max_sequences) return false;
  if (decodes_.empty() || prompts_.empty() || waiting.empty()) return false;
  return core_.sequences[waiting.front()].key < core_.sequences[prompts_.front()].key;
}

// The oldest running prompt always gets on with the part of the prompts' time that one without a
// promise leaves. The part may be less than a tile of the engine's kernels: it is saved up, so that
// those before it have the steps between. If nothing got on for a long time, it does beyond what
// streams can bear, and a waiting one starts if none runs and no place was made for an urgent one.
void Composer::give_floor() {
  const bool starved = core_.starved_steps >= core_.config.drip_interval;
  const Index running = oldest(prompts_);
  const Index waiting = oldest(core_.sequences.waiting());
  const std::int64_t kept_back =
      std::max<std::int64_t>(0, tokens_left_ - core_.config.min_chunk.value());
  tokens_left_ -= kept_back;
  if (running != SequenceTable::kNone) {
    if (starved || floor_saved_up(running)) give(running, starved ? Nanos::max() : budget_.wanted);
  } else if (starved && !made_way_ && waiting != SequenceTable::kNone) {
    start(waiting, Nanos::max());
  }
  tokens_left_ += kept_back;
}

// Of the prompts' time, or, where streams go first, of the streams' time; more if deadlines of
// prompts demand it.
Nanos Composer::kept_for_floor() const {
  const Nanos spare = std::max(Nanos(0), budget_.wanted - decode_time_);
  const bool seats_first = seats_come_first();
  const Nanos whole = seats_first ? std::min(spare, decode_time_) : spare;
  const Nanos kept = whole - units::scaled(whole, core_.config.long_prompt_share);
  if (!seats_first) return kept;
  return std::max(kept, std::min(spare, budget_.demanded - decode_time_));
}

// Adds this step's part to the savings of the oldest prompt; true, and they are spent, when they
// are enough for its floor.
bool Composer::floor_saved_up(Index index) {
  const Sequence& sequence = core_.sequences[index];
  core_.floor_saved += kept_for_floor();
  cost::StepShape floor = shape_;
  floor.add_chunk(sequence.computed, std::min(core_.config.min_chunk, sequence.pending()));
  if (core_.floor_saved < core_.law.guarded(floor) - decode_time_) return false;
  core_.floor_saved = Nanos(0);
  return true;
}

// Now and then the oldest waiting one goes first, so that nothing that was accepted waits without
// bound; but not into the place that was just made for an urgent one.
void Composer::drip() {
  const Index waiting = oldest(core_.sequences.waiting());
  if (waiting != SequenceTable::kNone) start(waiting, single_budget(core_.sequences[waiting]));
}

void Composer::serve_prompts() {
  const auto& waiting = core_.sequences.waiting();
  for (bool going = true; going && tokens_left_ > 0;) {
    const bool has_prompt = next_prompt_ < prompts_.size();
    const bool has_waiting = !waiting_closed_ && next_waiting_ < waiting.size();
    if (!has_prompt && !has_waiting) break;
    const bool running_first =
        has_prompt && (!has_waiting || core_.sequences[prompts_[next_prompt_]].key <
                                           core_.sequences[waiting[next_waiting_]].key);
    going = running_first ? serve_running() : serve_waiting();
  }
  if (limited_ != SequenceTable::kNone) give(limited_, budget_.wanted);
}

bool Composer::serve_running() {
  const Index index = prompts_[next_prompt_++];
  const Sequence& sequence = core_.sequences[index];
  const Nanos budget = single_budget(sequence);
  const bool time_left = give(index, budget);
  if (budget < budget_.wanted && sequence.take < sequence.pending()) {
    limited_ = index;
    return true;
  }
  return time_left;
}

bool Composer::serve_waiting() {
  const Index index = core_.sequences.waiting()[next_waiting_];
  const Nanos budget = single_budget(core_.sequences[index]);
  switch (start(index, budget)) {
    case Start::kStarted:
      if (budget < budget_.wanted &&
          core_.sequences[index].take < core_.sequences[index].pending()) {
        limited_ = index;
      }
      return true;
    case Start::kLater:
      next_waiting_ += 1;
      if (next_waiting_ >= kLookAhead) waiting_closed_ = true;
      return true;
    case Start::kNoTime:
    case Start::kNoSequence:
      return false;
  }
  return false;
}

bool Composer::more_follow() const {
  return next_prompt_ < prompts_.size() ||
         (!waiting_closed_ && next_waiting_ + 1 < core_.sequences.waiting().size());
}

// A long prompt without a promise leaves a part of the step to those behind it. Promised ones take
// turns by deadline alone: the pool counted on that when it let them in.
Nanos Composer::single_budget(const Sequence& sequence) const {
  const bool promised = !sequence.promise().best_effort();
  const bool by_deadline = promised && sequence.key.rank != StartRank::kUnpromised;
  const units::Ppm share =
      by_deadline ? core_.config.promised_prompt_share : core_.config.long_prompt_share;
  if (share == units::Ppm(units::kMillion)) return budget_.wanted;
  if (limited_ != SequenceTable::kNone || !more_follow()) return budget_.wanted;
  const Nanos for_prompts = std::max(Nanos(0), budget_.wanted - decode_time_);
  return budget_.wanted - for_prompts + units::scaled(for_prompts, share);
}

Tokens Composer::affordable(const Sequence& sequence, Tokens context, Nanos budget) const {
  const Tokens pending = sequence.length() - context;
  const Tokens limit = std::min(pending, Tokens(tokens_left_));
  const Tokens chunk = core_.law.largest_chunk(shape_, context, budget, limit);
  if (chunk == pending) return chunk;
  if (chunk.value() == 0 && shape_.empty()) return std::min(limit, core_.config.min_chunk);
  return with_rest(in_tiles(chunk, context, limit), pending);
}

// The engine's own limit may be less than a tile, or no multiple of one.
Tokens Composer::in_tiles(Tokens chunk, Tokens context, Tokens limit) const {
  const std::int64_t tile = core_.config.chunk_tile.value();
  if (chunk == limit || chunk.value() == 0) return chunk;
  if (chunk.value() < tile) return whole_tile_or(chunk, context, limit);
  return Tokens(chunk.value() / tile * tile);
}

// Less than a tile takes the engine no less time, and law and plan would talk each other down: the
// first prompt of a step gets a whole one if streams can bear it, those behind it nothing.
Tokens Composer::whole_tile_or(Tokens chunk, Tokens context, Tokens limit) const {
  if (shape_.prefill_tokens > 0) return Tokens(0);
  const Tokens tile = std::min(limit, core_.config.chunk_tile);
  cost::StepShape with_tile = shape_;
  with_tile.add_chunk(context, tile);
  return core_.law.guarded(with_tile) <= budget_.hard ? tile : chunk;
}

// A rest that would be too short gets a tile of the chunk's, if that keeps one itself; else it goes
// along where no stream waits for the end of the step.
Tokens Composer::with_rest(Tokens chunk, Tokens pending) const {
  const Tokens tile = core_.config.chunk_tile;
  if (chunk.value() == 0 || pending - chunk >= core_.config.least_rest) return chunk;
  if (chunk >= tile * 2) return chunk - tile;
  return shape_.decodes == 0 && pending <= Tokens(tokens_left_) ? pending : chunk;
}

void Composer::take_back(Sequence& sequence) {
  if (sequence.take.value() == 0) return;
  cost::StepShape chunk;
  chunk.add_chunk(sequence.computed, sequence.take);
  shape_.prefill_tokens -= chunk.prefill_tokens;
  shape_.attention -= chunk.attention;
  tokens_left_ += sequence.take.value();
  sequence.take = Tokens(0);
}

void Composer::take(Sequence& sequence, Tokens chunk) {
  if (chunk.value() == 0) return;
  core_.kv.extend(sequence.slot, sequence.computed + chunk);
  shape_.add_chunk(sequence.computed, chunk);
  tokens_left_ -= chunk.value();
  sequence.take = chunk;
}

// Gives a running prompt as long a chunk as fits; false when time ran out before its end.
bool Composer::give(Index index, Nanos budget) {
  Sequence& sequence = core_.sequences[index];
  const Tokens before = sequence.take;
  if (before == sequence.pending()) return true;
  take_back(sequence);
  const Tokens wanted = std::max(before, affordable(sequence, sequence.computed, budget));
  const Tokens room = core_.kv.reach(sequence.slot, core_.kv.available()) - sequence.computed;
  const Tokens chunk = std::min(wanted, room);
  take(sequence, chunk);
  if (chunk < sequence.pending()) return chunk < wanted;
  partial_ -= 1;
  return true;
}

// The next block of the prompt is being computed by another sequence right now: better wait and
// share it. The other one gets on as urgently as this one.
bool Composer::waits_for_prefix(Sequence& sequence, std::int64_t found_blocks) {
  const domain::PrefixChain& chain = sequence.assign.request.prefix;
  if (chain == nullptr || sequence.sharing_waits >= core_.config.max_sharing_wait) return false;
  const auto next = static_cast<std::size_t>(found_blocks);
  const Tokens reach((found_blocks + 1) * core_.block_tokens());
  if (next >= chain->size() || reach >= sequence.length()) return false;
  for (const Index index : core_.sequences.running()) {
    Sequence& other = core_.sequences[index];
    const domain::PrefixChain& others = other.assign.request.prefix;
    if (other.decoding() || others == nullptr || others->size() <= next) continue;
    if (other.computed >= reach || (*others)[next] != (*chain)[next]) continue;
    sequence.sharing_waits += 1;
    if (sequence.key < other.key) {
      other.key.tier = sequence.key.tier;
      other.key.rank = sequence.key.rank;
      other.key.due = sequence.key.due;
    }
    return true;
  }
  return false;
}

// After a preemption for lack of memory: not before there is room for all of it and some tokens for
// everybody, or it would push the next one out.
bool Composer::room_to_return(const Sequence& sequence) const {
  if (sequence.preemptions == 0 || core_.kv.running() == 0) return true;
  if (sequence.preempted_step == core_.counters.steps) return false;
  const Blocks needed = cost::blocks_for(core_.config.spec.kv, sequence.length());
  return needed + Blocks(core_.kv.running() + 1) <= core_.kv.available();
}

bool Composer::memory_allows(Index index, const KvBlocks::Hit& hit) {
  Sequence& sequence = core_.sequences[index];
  if (core_.kv.running() == 0) {
    if (core_.kv.open_cost(hit) >= core_.kv.available()) core_.kv.believe(core_.kv.total());
    return core_.kv.open_cost(hit) < core_.kv.available();
  }
  const std::int64_t version = core_.kv.sharing_version();
  if (sequence.refused_version == version &&
      core_.counters.steps - sequence.refused_step < kRetrySteps) {
    return false;
  }
  if (core_.kv.open_cost(hit) < core_.kv.available() && room_to_return(sequence) &&
      reservation_.fits(index, hit, {})) {
    return true;
  }
  sequence.refused_version = version;
  sequence.refused_step = core_.counters.steps;
  return false;
}

// The first one that finds no memory may be passed a bounded number of times.
void Composer::note_blocked(Index index) {
  if (blocked_ != SequenceTable::kNone) return;
  blocked_ = index;
  if (core_.sequences[index].bypasses >= core_.config.max_bypasses) waiting_closed_ = true;
}

// Few prompts are computed side by side, but nobody waits for one that is due later.
bool Composer::may_be_partial(const Sequence& sequence) const {
  if (partial_ < core_.config.max_partial_prefills) return true;
  return !prompts_.empty() && sequence.key < core_.sequences[prompts_.back()].key;
}

Composer::Start Composer::start(Index index, Nanos budget) {
  Sequence& sequence = core_.sequences[index];
  const bool full = core_.kv.running() >= core_.config.spec.limits.max_sequences;
  if (full || started_ >= core_.config.max_admissions) {
    waiting_closed_ = true;
    return full && !decodes_.empty() ? Start::kNoSequence : Start::kLater;
  }
  KvBlocks::Hit hit = core_.kv.find(sequence.assign.request.prefix, sequence.length() - Tokens(1));
  if (waits_for_prefix(sequence, hit.blocks)) return Start::kLater;
  const Tokens context(hit.blocks * core_.block_tokens());
  const Tokens chunk = affordable(sequence, context, budget);
  if (chunk.value() == 0) return Start::kNoTime;
  const bool whole = context + chunk == sequence.length();
  if (!whole && !may_be_partial(sequence)) return Start::kLater;
  if (!memory_allows(index, hit)) {
    note_blocked(index);
    return Start::kLater;
  }
  if (blocked_ != SequenceTable::kNone) {
    Sequence& passed = core_.sequences[blocked_];
    if (++passed.bypasses >= core_.config.max_bypasses) waiting_closed_ = true;
  }
  open(index, hit, chunk);
  return Start::kStarted;
}

void Composer::open(Index index, const KvBlocks::Hit& hit, Tokens chunk) {
  core_.open(index, hit);
  Sequence& sequence = core_.sequences[index];
  started_ += 1;
  if (sequence.decoding()) return resume_decode(index);
  const Tokens room = core_.kv.reach(sequence.slot, core_.kv.available()) - sequence.computed;
  take(sequence, std::min(chunk, room));
  if (sequence.take < sequence.pending()) partial_ += 1;
}

// It came back to find all but its last token in place: it goes on as the stream that it was.
void Composer::resume_decode(Index index) {
  Sequence& sequence = core_.sequences[index];
  core_.kv.extend(sequence.slot, sequence.length());
  shape_.add_decode(sequence.computed);
  decodes_.push_back(index);
  sequence.take = Tokens(1);
  tokens_left_ -= 1;
}

}  // namespace tidegate::batch
