#include "pool/admission/ends.h"

#include <algorithm>
#include <array>
#include <span>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::pool {

using domain::LengthForecast;
using domain::Tier;
using units::Nanos;
using units::Tokens;

namespace {

// Chances are counted in parts of the least number that 1 to 8 divide, so that each is exact.
constexpr std::int64_t kSure = 840;
static_assert(LengthForecast::kPoints == 8);
// Standard deviations for nine in ten (normal distribution), in hundredths.
constexpr std::int64_t kCertainty = 128;

// One engine's pace from now on: nothing ends before the prompts in line are computed.
struct Runner {
  const EngineView* engine = nullptr;
  Nanos delay{0};
  Nanos step{1};

  Tokens produced_by(Nanos time) const {
    return Tokens(time <= delay ? 0 : (time - delay).value() / step.value());
  }
};

// Ended, in parts of kSure for each sequence, and the variance of it.
struct Count {
  std::int64_t mean = 0;
  std::int64_t variance = 0;
};

// The chance that the sequence ends within `more` tokens, of all that it may still do by its
// forecast; one past its forecast goes on as cost::remaining() says.
std::int64_t chance(const Pledge& pledge, Tokens more) {
  if (pledge.ghost()) return kSure;
  std::int64_t possible = 0;
  std::int64_t ended = 0;
  for (const Tokens length : pledge.footprint.output.lengths) {
    if (length <= pledge.produced) continue;
    possible += 1;
    ended += length - pledge.produced <= more ? 1 : 0;
  }
  if (possible > 0) return kSure / possible * ended;
  return cost::remaining(pledge.footprint, pledge.produced).mean <= more ? kSure : 0;
}

Count ended_by(std::span<const Runner> runners, Tier tier, Nanos time) {
  Count count;
  for (const Runner& runner : runners) {
    const Tokens more = runner.produced_by(time);
    for (const Pledge& pledge : runner.engine->ledger()) {
      if (!pledge.used || !runner.engine->gates(pledge.tier, tier)) continue;
      const std::int64_t part = chance(pledge, more);
      count.mean += part;
      count.variance += part * (kSure - part);
    }
  }
  return count;
}

// Half of one is left out: the count passes a whole number of ends that are known exactly when the
// last of them comes, and of uncertain ones in the middle of where it may come.
bool enough(const Count& ended, std::int64_t count) {
  const std::int64_t above = ended.mean - (count * kSure - kSure / 2);
  return above >= 0 && units::Int128{above} * above * 10'000 >=
                           units::Int128{ended.variance} * kCertainty * kCertainty;
}

Runner runner(const EngineView& engine, Tier tier, const Work& queued) {
  const Load& load = engine.load(tier);
  Work work = load.prefill;
  work += queued;
  const Nanos step = engine.law().mean({.decodes = load.sequences, .kv_tokens = load.held.value()});
  return {&engine, engine.prefill_time(load, work), std::max(Nanos(1), step)};
}

// The first time, to within a sixty-fourth, at which enough have ended.
Nanos first_time(std::span<const Runner> runners, Tier tier, std::int64_t count) {
  constexpr Nanos kLongest = units::seconds(86'400);
  Nanos high = units::milliseconds(1);
  while (!enough(ended_by(runners, tier, high), count)) {
    if (high > kLongest) return Nanos::max();
    high = high * 2;
  }
  Nanos low = high / 2;
  while (high - low > high / 64) {
    const Nanos middle = low + (high - low) / 2;
    (enough(ended_by(runners, tier, middle), count) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Nanos ends_of_few(const Candidates& candidates, Tier tier, const Work& queued, std::int64_t count) {
  TIDEGATE_CHECK(count > 0);
  std::array<Runner, kFewSequences> runners;
  std::size_t used = 0;
  std::int64_t running = 0;
  for (const EngineIndex index : candidates.indexes) {
    const EngineView& engine = candidates.engines[index];
    if (!engine.ready() || engine.load(tier).sequences == 0) continue;
    TIDEGATE_CHECK(used < runners.size());
    running += engine.load(tier).sequences;
    runners[used++] = runner(engine, tier, queued);
  }
  if (count > running) return Nanos::max();
  return first_time(std::span(runners).first(used), tier, count);
}

}  // namespace tidegate::pool
