#include "baselines/engine/qoserve.h"

#include <algorithm>

#include "cost/length_forecast.h"
#include "units/square_root.h"

namespace tidegate::baselines {

using batch::Sequence;
using batch::StartRank;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

// One deadline for all of it.
bool whole_answer(const domain::Promise& promise) {
  return promise.first_token_due == Instant::never() && promise.total_due != Instant::never();
}

Tokens expected_output(const domain::Footprint& footprint, Tokens produced) {
  const cost::Remaining rest = cost::remaining(footprint, produced);
  return rest.mean + Tokens(2 * units::square_root(rest.variance));
}

}  // namespace

batch::StartKey QoServe::start_key(const domain::Assign& assign) {
  const domain::Request& request = assign.request;
  Tokens work = request.footprint.prompt;
  if (whole_answer(request.promise)) work += expected_output(request.footprint, Tokens(0));
  return keyed(assign, request.promise.token_due(0) + alpha_ * work.value());
}

void QoServe::compose(Instant now) {
  draft_.begin(core_.config.spec.limits.max_step_tokens, now);
  plan_decodes();
  if (!draft_.preempted()) {
    limit_step(now);
    plan_prompts(now);
  }
  // Prompts that have begun hold each other's blocks: the last one makes way.
  const auto& running = core_.sequences.running();
  while (draft_.shape().empty() && running.size() > 1) {
    draft_.preempt(running.back());
    plan_prompts(now);
  }
  draft_.commit();
}

void QoServe::limit_step(Instant now) {
  decode_time_ = core_.law.guarded(draft_.shape());
  step_time_ = Nanos::max();
  late_ = false;
  for (const Index index : core_.sequences.running()) {
    const Sequence& sequence = core_.sequences[index];
    if (!sequence.decoding() || sequence.take == Tokens(0)) continue;
    step_time_ = std::min(step_time_, slack(index, now, decode_time_));
    late_ = late_ || sequence.promise().token_due(sequence.produced.value()) < now + decode_time_;
  }
}

Nanos QoServe::slack(Index index, Instant now, Nanos decode_time) const {
  const Sequence& sequence = core_.sequences[index];
  const domain::Promise& promise = sequence.promise();
  const Instant due = promise.token_due(sequence.produced.value());
  if (due == Instant::never()) return Nanos::max();
  if (due < now + decode_time) {
    return promise.token_pace > Nanos(0) ? promise.token_pace : Nanos::max();
  }
  if (!whole_answer(promise)) return due - now;
  const Tokens rest = expected_output(sequence.assign.request.footprint, sequence.produced);
  return (due - now) / std::max<std::int64_t>(1, rest.value());
}

// The largest chunk behind `context` tokens that the step has time for.
Tokens QoServe::chunk(Tokens context) const {
  const Tokens limit = kLargestChunk - Tokens(draft_.shape().prefill_tokens);
  if (limit <= Tokens(0)) return Tokens(0);
  const Tokens fits = core_.law.largest_chunk(draft_.shape(), context, step_time_, limit);
  const Tokens floor = kLateChunk - Tokens(draft_.shape().prefill_tokens);
  return late_ ? std::max(fits, floor) : fits;
}

// What it takes alone, at once: its prompt, and for a whole answer its output at the present pace.
bool QoServe::hopeless(const Sequence& sequence, Instant now) const {
  const Instant due = sequence.promise().token_due(sequence.produced.value());
  if (due == Instant::never()) return false;
  Nanos work = core_.own_work(sequence, Tokens(0));
  if (whole_answer(sequence.promise())) {
    const auto& footprint = sequence.assign.request.footprint;
    work += decode_time_ * cost::remaining(footprint, sequence.produced).mean.value();
  }
  return now + work > due;
}

batch::StartKey QoServe::key_now(const Sequence& sequence) const {
  batch::StartKey key = sequence.key;
  if (key.due != Instant::never()) key.due = key.due - alpha_ * sequence.computed.value();
  return key;
}

std::vector<Index> QoServe::begun(Instant now) {
  std::vector<Index> prompts;
  for (const Index index : core_.sequences.running()) {
    Sequence& sequence = core_.sequences[index];
    if (sequence.decoding() || sequence.take > Tokens(0)) continue;
    if (hopeless(sequence, now)) sequence.key.rank = StartRank::kUnpromised;
    prompts.push_back(index);
  }
  std::sort(prompts.begin(), prompts.end(), [&](Index a, Index b) {
    return key_now(core_.sequences[a]) < key_now(core_.sequences[b]);
  });
  return prompts;
}

// False when the step is full or this one has to wait for memory or a sequence.
bool QoServe::give(Index index) {
  const Sequence& sequence = core_.sequences[index];
  const Tokens limit = chunk(sequence.computed);
  if (limit == Tokens(0)) return false;
  if (sequence.running()) return draft_.add_chunk(index, limit);
  const StepDraft::StartRule rule{.limit = limit, .whole_prompt = true};
  return draft_.start(index, rule) == StepDraft::Start::kStarted;
}

// Where the next one in line cannot start yet, those that have begun still go on, as in Sarathi.
void QoServe::plan_prompts(Instant now) {
  const std::vector<Index> prompts = begun(now);
  const auto& waiting = core_.sequences.waiting();
  std::size_t next = 0;
  bool room = !waiting.empty();
  while (draft_.tokens_left() > Tokens(0) && (next < prompts.size() || room)) {
    const bool go_on = next < prompts.size() && (!room || key_now(core_.sequences[prompts[next]]) <
                                                              core_.sequences[waiting.front()].key);
    const Index index = go_on ? prompts[next] : waiting.front();
    Sequence& sequence = core_.sequences[index];
    if (!go_on && sequence.key.rank == StartRank::kPromised && hopeless(sequence, now)) {
      batch::StartKey last = sequence.key;
      last.rank = StartRank::kUnpromised;
      core_.sequences.reorder(index, last);
      continue;
    }
    const bool given = give(index);
    if (go_on && !given) return;
    if (go_on) next += 1;
    room = room && given && !waiting.empty();
  }
}

}  // namespace tidegate::baselines
