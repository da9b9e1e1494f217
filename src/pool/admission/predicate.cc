#include "pool/admission/predicate.h"

#include <algorithm>
#include <optional>

#include "cost/kv_law.h"
#include "pool/admission/ends.h"
#include "units/integer.h"

namespace tidegate::pool {

using domain::Reason;
using domain::Resource;
using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

Verdict failed(Part part, Reason reason, Resource full, Nanos drains_in) {
  return {.part = part, .reason = reason, .full = full, .drains_in = std::max(Nanos(1), drains_in)};
}

// A step with so many sequences, as many as can run, and so much KV, with the least prefill that
// steps are planned with.
Nanos step_with(const EngineView& engine, const PoolPolicy& policy, std::int64_t sequences,
                Tokens kv) {
  const domain::EngineLimits& limits = engine.spec().limits;
  cost::StepShape shape{.decodes = std::min(sequences, limits.max_sequences),
                        .kv_tokens = kv.value()};
  shape.add_chunk(Tokens(0), std::min(policy.chunk_floor, limits.max_step_tokens));
  return engine.law().guarded(shape);
}

// Everything about one engine that the parts share.
struct Situation {
  const Ask& ask;
  const EngineView& engine;
  const PoolPolicy& policy;
  Instant now;
  const Load& load;
  cost::Resident newcomer;
  Work own;
  Nanos step_left;
  Nanos sequence_wait;  // until one that it can have has ended
  Tokens peak{0};

  Instant finish(const Work& work) const {
    return now + step_left + engine.prefill_time(load, work);
  }
  Instant own_finish() const {
    Work work = engine.ahead_of(ask.tier, ask.key);
    work += own;
    return std::max(finish(work), now + sequence_wait + engine.prefill_time(load, own));
  }
  Nanos peak_step(Tokens peak_tokens) const;
};

// A step at the predicted peak.
Nanos Situation::peak_step(Tokens peak_tokens) const {
  return step_with(engine, policy, load.sequences + 1, peak_tokens);
}

// Sequences that have to end before one more can run.
std::int64_t beyond(const EngineView& engine, const Load& load) {
  return std::max<std::int64_t>(0, load.sequences + 1 - engine.spec().limits.max_sequences);
}

Situation situation(const Ask& ask, const EngineView& engine, const PoolPolicy& policy,
                    Instant now) {
  const domain::Footprint& footprint = ask.request->footprint;
  const Load& load = engine.load(ask.tier);
  return {.ask = ask,
          .engine = engine,
          .policy = policy,
          .now = now,
          .load = load,
          .newcomer = engine.resident(footprint),
          .own = prefill_work(footprint.prompt, footprint.prompt),
          .step_left = engine.step_left(load, now),
          .sequence_wait = sequences_wait({&engine, engine.ahead_of(ask.tier, ask.key)}, ask.tier,
                                          beyond(engine, load))};
}

// The engine tier lets streams end before prompts that are due after one that waits there for a
// sequence. Where there are none it waits here, where an earlier one can still pass it.
bool hurries_streams(const Ask& ask, const EngineView& engine) {
  const PrefillLine& line = engine.prefilling();
  return engine.spec().own_batching && engine.load(ask.tier).decodes > 0 &&
         line.count_before(ask.tier, ask.key) < line.size();
}

// Part 4, sequences. Asked first of all: most engines that refuse are full.
std::optional<Verdict> sequences(const Ask& ask, const EngineView& engine,
                                 const PoolPolicy& policy) {
  const Load& load = engine.load(ask.tier);
  std::int64_t over = beyond(engine, load);
  if (load.sequences == 0 || over == 0) return std::nullopt;
  if (hurries_streams(ask, engine)) over -= policy.ahead;
  if (over <= 0) return std::nullopt;
  return failed(Part::kMemory, Reason::kSequencesFull, Resource::kSequences,
                sequences_drain(engine, ask.tier, over));
}

// Part 4, memory. Leaves the peak in the situation for part 3.
std::optional<Verdict> memory(Situation& s) {
  const domain::Tier tier = s.ask.tier;
  const Tokens capacity = s.engine.capacity();
  s.peak = s.engine.peak(tier, &s.newcomer, capacity);
  if (s.peak <= capacity) return std::nullopt;
  return failed(Part::kMemory, Reason::kKvFull, Resource::kKvBlocks,
                memory_drain(s.engine, tier, s.peak - capacity));
}

// Best effort that makes way for whoever comes keeps no pace for it, nor does an engine that is too
// slow for it in any case.
bool keeps_expected_pace(const Situation& s) {
  const Nanos pace = s.ask.expected_pace;
  if (pace == Nanos::max()) return false;
  const Nanos limit = units::scaled(pace, s.policy.pace_share);
  if (step_with(s.engine, s.policy, 1, Tokens(0)) > limit) return false;
  if (!s.engine.gates(s.ask.tier, domain::Tier::kWithinShare)) return false;
  return !s.ask.expected_elsewhere || keeps_pace(s.engine, s.policy, s.ask.tier, pace);
}

// Part 3. The peak of part 4 may be an upper bound; a failure is confirmed with the exact one.
std::optional<Verdict> pace(const Situation& s) {
  Nanos tightest = s.load.promised_pace;
  const Nanos own = s.ask.request->promise.token_pace;
  if (own > Nanos(0) && !s.ask.request->promise.best_effort()) tightest = std::min(tightest, own);
  if (keeps_expected_pace(s)) tightest = std::min(tightest, s.ask.expected_pace);
  if (tightest == Nanos::max()) return std::nullopt;
  const Nanos limit = units::scaled(tightest, s.policy.pace_share);
  if (s.peak_step(s.peak) <= limit) return std::nullopt;
  if (s.peak_step(s.engine.peak(s.ask.tier, &s.newcomer, Tokens(0))) <= limit) return std::nullopt;
  return failed(Part::kPace, Reason::kPaceTooSlow, Resource::kStepTime,
                sequences_drain(s.engine, s.ask.tier, 1));
}

// Does somebody who would have been on time come too late because of the newcomer before it?
bool breaks_another(const Situation& s) {
  const PrefillLine& line = s.engine.prefilling();
  const std::size_t first = line.count_before(s.ask.tier, s.ask.key);
  if (first == line.size()) return false;
  Work all = line.work_of_first(line.size());
  all += s.own;
  const Instant latest = s.now + s.step_left + s.engine.prefill_time_bound(s.load, all);
  for (std::size_t i = first; i < line.size(); ++i) {
    const PrefillLine::Place& other = line.places()[i];
    if (other.key.due >= latest || !s.engine.gates(other.tier, s.ask.tier)) continue;
    const Work work = line.work_of_first(i + 1);
    Work with = work;
    with += s.own;
    if (s.finish(work) <= other.key.due && s.finish(with) > other.key.due) return true;
  }
  return false;
}

// Parts 1 and 2, and the total deadline where one is promised.
std::optional<Verdict> on_time(const Situation& s) {
  const domain::Promise& promise = s.ask.request->promise;
  const Instant finish = s.own_finish();
  const auto late = [&](Part part, Instant at, Instant due) {
    return failed(part, Reason::kFirstTokenTooLate, Resource::kStepTime, at - due);
  };
  if (finish > s.ask.key.due) return late(Part::kFirstToken, finish, s.ask.key.due);
  if (breaks_another(s)) {
    return failed(Part::kFirstToken, Reason::kFirstTokenTooLate, Resource::kStepTime,
                  s.engine.prefill_time(s.load, s.own));
  }
  if (promise.best_effort()) return std::nullopt;
  cost::StepShape shape = s.load.decode_shape();
  shape.add_decode(s.ask.request->footprint.prompt);
  shape.add_chunk(Tokens(0), s.load.chunk);
  const Instant second = finish + s.engine.law().guarded(shape);
  if (second > promise.token_due(1)) return late(Part::kSecondToken, second, promise.token_due(1));
  if (promise.total_due == Instant::never()) return std::nullopt;
  const std::int64_t steps = s.newcomer.remaining.mean.value() - 1;
  if (finish + s.peak_step(s.peak) * steps <= promise.total_due) return std::nullopt;
  const Tokens exact = s.engine.peak(s.ask.tier, &s.newcomer, Tokens(0));
  const Instant end = finish + s.peak_step(exact) * steps;
  if (end <= promise.total_due) return std::nullopt;
  return late(Part::kPace, end, promise.total_due);
}

}  // namespace

bool keeps_pace(const EngineView& engine, const PoolPolicy& policy, domain::Tier tier, Nanos pace) {
  const Nanos limit = units::scaled(pace, policy.pace_share);
  const std::int64_t sequences = engine.load(tier).sequences;
  const auto keeps = [&](Tokens enough) {
    return step_with(engine, policy, sequences, engine.peak(tier, nullptr, enough)) <= limit;
  };
  return keeps(engine.capacity()) || keeps(Tokens(0));
}

Nanos sequences_drain(const EngineView& engine, domain::Tier tier, std::int64_t count) {
  return engine.load(tier).end_distance * std::max<std::int64_t>(0, count);
}

Nanos memory_drain(const EngineView& engine, domain::Tier tier, Tokens tokens) {
  const Load& load = engine.load(tier);
  if (tokens <= Tokens(0) || load.sequences == 0) return Nanos(0);
  const std::int64_t each =
      std::max<std::int64_t>(1, (load.held + load.remaining).value() / load.sequences);
  return load.end_distance * units::divide_up(tokens.value(), each);
}

Instant first_token_at(const Ask& ask, const EngineView& engine, const Work& queued, Instant now) {
  const domain::Footprint& footprint = ask.request->footprint;
  const Load& load = engine.load(ask.tier);
  Work work = engine.ahead_of(ask.tier, ask.key);
  work += queued;
  work += prefill_work(footprint.prompt, footprint.prompt);
  return now + engine.step_left(load, now) + engine.prefill_time(load, work);
}

Instant hopeless_after(const Ask& ask, const EngineView& engine) {
  if (ask.key.due == Instant::never() || !engine.law().calibrated()) return ask.key.due;
  const Tokens prompt = ask.request->footprint.prompt;
  const Load& load = engine.load(ask.tier);
  return ask.key.due - engine.prefill_time(load, prefill_work(prompt, prompt));
}

bool hopeless(const Ask& ask, const EngineView& engine, Instant now) {
  return now > hopeless_after(ask, engine);
}

Verdict feasible(const Ask& ask, const EngineView& engine, const PoolPolicy& policy, Instant now) {
  if (!ask.entitled) {
    return failed(Part::kEntitlement, Reason::kInFlight, Resource::kTenantSlots, Nanos(0));
  }
  if (now > ask.key.due) {
    return failed(Part::kFirstToken, Reason::kFirstTokenTooLate, Resource::kStepTime,
                  now - ask.key.due);
  }
  if (!cost::can_ever_fit(engine.spec(), ask.request->footprint)) {
    return failed(Part::kMemory, Reason::kKvFull, Resource::kKvBlocks, Nanos::max());
  }
  if (const auto full = sequences(ask, engine, policy)) return *full;
  Situation s = situation(ask, engine, policy, now);
  Verdict verdict{.ok = true};
  if (s.load.sequences > 0) {
    if (const auto full = memory(s)) return *full;
    auto slow = pace(s);
    if (!slow) slow = on_time(s);
    if (slow && engine.law().calibrated()) return *slow;
    verdict.shadow_failure = slow.has_value();
  }
  cost::StepShape after = s.load.decode_shape();
  after.add_decode(ask.request->footprint.prompt);
  verdict.added_prefill = engine.prefill_time(s.load, s.own);
  verdict.step_after = engine.law().guarded(after);
  return verdict;
}

}  // namespace tidegate::pool
