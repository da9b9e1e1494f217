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

// One of the sequences, and the pace of its engine from now on.
struct Stream {
  const Pledge* pledge = nullptr;
  Nanos delay{0};  // nothing is produced before
  Nanos step{1};

  Tokens produced_by(Nanos time) const {
    return Tokens(time <= delay ? 0 : (time - delay).value() / step.value());
  }
};

// All that gate a tier, collected once. A plain array: nothing is allocated where promises are
// made.
struct Streams {
  std::array<Stream, kFewSequences> all;
  std::size_t size = 0;

  void add(const Runner& runner, Tier tier) {
    const EngineView& engine = *runner.engine;
    const Load& load = engine.load(tier);
    const Nanos delay = engine.prefill_time(load, runner.before);
    const Nanos step =
        engine.law().mean({.decodes = load.sequences, .kv_tokens = load.held.value()});
    for (const Pledge& pledge : engine.ledger()) {
      if (!pledge.used || !engine.gates(pledge.tier, tier)) continue;
      TIDEGATE_CHECK(size < all.size());
      all[size++] = {&pledge, delay, std::max(Nanos(1), step)};
    }
  }
  std::span<const Stream> span() const { return std::span(all).first(size); }
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

Count ended_by(std::span<const Stream> streams, Nanos time) {
  Count count;
  for (const Stream& stream : streams) {
    const std::int64_t part = chance(*stream.pledge, stream.produced_by(time));
    count.mean += part;
    count.variance += part * (kSure - part);
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

// The first time, to within a sixty-fourth, at which enough have ended.
Nanos first_time(std::span<const Stream> streams, std::int64_t count) {
  constexpr Nanos kLongest = units::seconds(86'400);
  Nanos high = units::milliseconds(1);
  while (!enough(ended_by(streams, high), count)) {
    if (high > kLongest) return Nanos::max();
    high = high * 2;
  }
  Nanos low = high / 2;
  while (high - low > high / 64) {
    const Nanos middle = low + (high - low) / 2;
    (enough(ended_by(streams, middle), count) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Nanos ends_of_few(std::span<const Runner> runners, Tier tier, std::int64_t count) {
  TIDEGATE_CHECK(count > 0);
  Streams streams;
  for (const Runner& runner : runners) streams.add(runner, tier);
  if (count > static_cast<std::int64_t>(streams.size)) return Nanos::max();
  return first_time(streams.span(), count);
}

Nanos sequences_wait(const Runner& runner, Tier tier, std::int64_t count) {
  if (count <= 0) return Nanos(0);
  const Load& load = runner.engine->load(tier);
  if (load.sequences > kFewSequences) return load.end_distance * count;
  return ends_of_few({&runner, 1}, tier, count);
}

}  // namespace tidegate::pool
