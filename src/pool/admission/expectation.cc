#include "pool/admission/expectation.h"

#include <algorithm>
#include <array>
#include <span>

#include "pool/admission/ends.h"
#include "units/integer.h"

namespace tidegate::pool {

using domain::Reason;
using domain::Resource;
using units::Instant;
using units::Int128;
using units::Nanos;
using units::Tokens;

namespace {

// Rates are kept in units per this span.
constexpr std::int64_t kRateSpan = 1'000'000'000'000;

// What the engines of a model have free and how fast more of it comes.
struct Supply {
  std::int64_t ready = 0;
  std::int64_t sequences = 0;  // that run
  std::int64_t free_sequences = 0;
  Tokens free_memory{0};
  std::int64_t ends = 0;          // sequences per kRateSpan
  std::int64_t freed_memory = 0;  // tokens per kRateSpan
};

void add(Supply& supply, const EngineView& engine, domain::Tier tier) {
  const Load& load = engine.load(tier);
  supply.ready += 1;
  supply.sequences += load.sequences;
  supply.free_sequences +=
      std::max<std::int64_t>(0, engine.spec().limits.max_sequences - load.sequences);
  // Staggered sequences together stand at about half of their growth.
  supply.free_memory += std::max(Tokens(0), engine.capacity() - load.held - load.remaining / 2);
  const Nanos distance = load.end_distance;
  if (distance <= Nanos(0)) return;
  const std::int64_t each = (load.held + load.remaining).value() / load.sequences;
  const std::int64_t ends = kRateSpan / distance.value();
  supply.ends = units::add_saturating(supply.ends, ends);
  supply.freed_memory =
      units::add_saturating(supply.freed_memory, units::multiply_saturating(ends, each));
}

Supply supply_of(const Candidates& candidates, domain::Tier tier) {
  Supply supply;
  for (const EngineIndex index : candidates.indexes) {
    if (candidates.engines[index].ready()) add(supply, candidates.engines[index], tier);
  }
  return supply;
}

// Until `missing` units have come back at `rate`.
Nanos wait_for(std::int64_t missing, std::int64_t rate) {
  if (missing <= 0) return Nanos(0);
  if (rate <= 0) return Nanos::max();
  return Nanos(units::narrow_saturating(Int128{missing} * kRateSpan / rate));
}

// Until one of those that run on all candidates together has ended for each of `missing`, if each
// engine also computes the prompts it has been given and `share` more.
Nanos few_end(const Candidates& candidates, domain::Tier tier, const Work& share,
              std::int64_t missing) {
  std::array<Runner, kFewSequences> runners;
  std::size_t used = 0;
  for (const EngineIndex index : candidates.indexes) {
    const EngineView& engine = candidates.engines[index];
    if (!engine.ready() || engine.load(tier).sequences == 0) continue;
    Runner& runner = runners[used++];
    runner = {&engine, engine.load(tier).prefill};
    runner.before += share;
  }
  return ends_of_few(std::span(runners).first(used), tier, missing);
}

void wait_until(Expectation& expectation, Instant start, Reason reason, Resource full) {
  if (start <= expectation.start) return;
  expectation.start = start;
  expectation.reason = reason;
  expectation.full = full;
}

}  // namespace

Expectation expect(const Ask& ask, const Candidates& candidates, const Work& queued, Instant now) {
  Expectation expectation{.position = queued.requests,
                          .reason = Reason::kFirstTokenTooLate,
                          .full = Resource::kStepTime};
  const Supply supply = supply_of(candidates, ask.tier);
  if (supply.ready == 0) {
    expectation.reason = Reason::kNoEngine;
    expectation.full = Resource::kSequences;
    return expectation;
  }
  const Work share{.requests = queued.requests / supply.ready,
                   .prefill = queued.prefill / supply.ready,
                   .attention = queued.attention / supply.ready};
  const domain::Footprint& footprint = ask.request->footprint;
  const Work own = prefill_work(footprint.prompt, footprint.prompt);
  Nanos prefill = Nanos::max();
  for (const EngineIndex index : candidates.indexes) {
    const EngineView& engine = candidates.engines[index];
    if (!engine.ready()) continue;
    expectation.measured = expectation.measured && engine.law().calibrated();
    expectation.first_token =
        std::min(expectation.first_token, first_token_at(ask, engine, share, now));
    prefill = std::min(prefill, engine.prefill_time(engine.load(ask.tier), own));
  }
  expectation.start = std::max(now, expectation.first_token - prefill);
  const std::int64_t sequences = queued.requests + 1 - supply.free_sequences;
  const bool few =
      sequences > 0 && sequences <= supply.sequences && supply.sequences <= kFewSequences;
  const Nanos wait =
      few ? few_end(candidates, ask.tier, share, sequences) : wait_for(sequences, supply.ends);
  wait_until(expectation, now + wait, Reason::kSequencesFull, Resource::kSequences);
  const Tokens memory = queued.memory + footprint.prompt +
                        cost::remaining(footprint, Tokens(0)).mean - supply.free_memory;
  wait_until(expectation, now + wait_for(memory.value(), supply.freed_memory), Reason::kKvFull,
             Resource::kKvBlocks);
  expectation.first_token = std::max(expectation.first_token, expectation.start + prefill);
  return expectation;
}

Nanos pledge_drain(const EngineView& engine, const Pledge& pledge) {
  const Load& load = engine.load(pledge.tier);
  const Nanos step = engine.law().mean({.decodes = load.sequences, .kv_tokens = load.held.value()});
  const Tokens since = pledge.footprint.prompt + pledge.produced - pledge.context;
  const Nanos decode = step * std::max<std::int64_t>(1, (pledge.remaining.mean - since).value());
  if (pledge.produced > Tokens(0)) return decode;
  Work prefill = engine.ahead_of(pledge.tier, pledge.key);
  prefill += prefill_work(pledge.footprint.prompt, pledge.prefill_left);
  return engine.prefill_time(load, prefill) + decode;
}

Nanos queue_drain(const Candidates& candidates, domain::Tier tier) {
  const Supply supply = supply_of(candidates, tier);
  return supply.free_sequences > 0 ? Nanos(1) : wait_for(1, supply.ends);
}

}  // namespace tidegate::pool
