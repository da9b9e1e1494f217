// When sequences end, against ends drawn from their forecasts.
#include "pool/admission/ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cost/length_forecast.h"
#include "pool_env.h"
#include "units/prng.h"

namespace tidegate::pool::testing {
namespace {

using domain::Tier;
using units::Instant;
using units::Nanos;
using units::Prng;
using units::Tokens;

constexpr PoolPolicy kPolicy{};

// Streams of `lengths` tokens that have produced `produced` each; the forecast is given.
struct Stream {
  domain::LengthForecast forecast;
  std::int64_t produced = 1;
};

EngineView engine_with(const std::vector<Stream>& streams) {
  EngineView engine(engine_spec(1), kPolicy);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    domain::Request r = request(i + 1, 16, 100'000);
    r.footprint.output = streams[i].forecast;
    const domain::AttemptRef ref{r.id, units::Attempt(1), engine.spec().id, engine.spec().epoch};
    const PledgeIndex index = engine.add(
        {ref, static_cast<SlotIndex>(i), Tier::kWithinShare, {Instant::never(), Instant(0), r.id}},
        r);
    engine.accept(index);
    engine.produce(index, Tokens(streams[i].produced), Instant(0));
  }
  return engine;
}

Nanos wait_for(const EngineView& engine, std::int64_t count, const Work& before = {}) {
  return sequences_wait({&engine, before}, Tier::kWithinShare, count);
}

// Tokens that each stream produces in `time`, by the law.
std::int64_t tokens_in(const EngineView& engine, Nanos time) {
  const Load& load = engine.load(Tier::kWithinShare);
  return time / engine.law().mean({.decodes = load.sequences, .kv_tokens = load.held.value()});
}

// Law: where lengths are known, the k-th end comes when the stream with the k-th shortest rest has
// produced it, to within a sixty-fourth (and one token).
TEST(Ends, KnownLengthsEndOneAfterAnother) {
  Prng prng(71);
  for (int world = 0; world < 200; ++world) {
    std::vector<Stream> streams;
    std::vector<std::int64_t> rests;
    for (std::int64_t i = prng.between(1, 12); i > 0; --i) {
      rests.push_back(prng.between(5, 300));
      streams.push_back({cost::certain(Tokens(rests.back() + 40)), 40});
    }
    std::ranges::sort(rests);
    const EngineView engine = engine_with(streams);
    for (std::size_t k = 0; k < rests.size(); ++k) {
      const auto tokens = tokens_in(engine, wait_for(engine, static_cast<std::int64_t>(k) + 1));
      EXPECT_GE(tokens, rests[k]) << "world " << world << ", end " << k + 1;
      EXPECT_LE(tokens, rests[k] + rests[k] / 32 + 1) << "world " << world << ", end " << k + 1;
    }
  }
}

std::vector<Stream> random_streams(Prng& prng) {
  std::vector<Stream> streams;
  for (std::int64_t i = prng.between(4, 16); i > 0; --i) {
    domain::LengthForecast forecast;
    for (Tokens& length : forecast.lengths) length = Tokens(prng.between(2, 400));
    std::ranges::sort(forecast.lengths);
    streams.push_back({forecast, 1});
  }
  return streams;
}

// How many have ended once each has produced `tokens` more, of lengths drawn from the forecasts.
std::int64_t ended(const std::vector<Stream>& streams, std::int64_t tokens, Prng& prng) {
  return std::ranges::count_if(streams, [&](const Stream& stream) {
    return stream.forecast.lengths[prng.below(8)].value() - 1 <= tokens;
  });
}

// Law: where lengths are only forecast, at least nine in ten draws from the forecasts have so many
// ends by then, and the time is not one by which many more have come.
TEST(Ends, ForecastLengthsHaveEndedWithNineInTen) {
  Prng prng(72);
  constexpr int kWorlds = 60;
  constexpr int kDraws = 200;
  std::int64_t kept = 0;
  std::int64_t too_many = 0;
  for (int world = 0; world < kWorlds; ++world) {
    const std::vector<Stream> streams = random_streams(prng);
    const EngineView engine = engine_with(streams);
    const auto count = prng.between(1, static_cast<std::int64_t>(streams.size()) / 2);
    const std::int64_t tokens = tokens_in(engine, wait_for(engine, count));
    for (int draw = 0; draw < kDraws; ++draw) {
      const std::int64_t ends = ended(streams, tokens, prng);
      kept += ends >= count ? 1 : 0;
      too_many += ends >= count + 5 ? 1 : 0;
    }
  }
  EXPECT_GE(kept * 100, kWorlds * kDraws * 88);
  EXPECT_LE(too_many * 100, kWorlds * kDraws * 25);
}

// Law: a stream past the longest length of its forecast counts as ended when remaining() says so,
// and one whose caller has left counts at once.
TEST(Ends, StreamsPastTheirForecastAndThoseGivenUp) {
  EngineView engine =
      engine_with({{cost::certain(Tokens(10)), 100}, {cost::certain(Tokens(900)), 1}});
  const auto rest = tokens_in(engine, wait_for(engine, 1));
  EXPECT_GE(rest, 50);
  EXPECT_LE(rest, 53);
  engine.disown(1);
  EXPECT_LE(wait_for(engine, 1), units::milliseconds(1));
}

// Law: prompts that come before are computed before streams go on.
TEST(Ends, PromptsInFrontDelayEveryEnd) {
  const EngineView engine = engine_with({{cost::certain(Tokens(100)), 1}});
  const Work before = prefill_work(Tokens(2'000), Tokens(2'000));
  const Nanos later = wait_for(engine, 1, before) - wait_for(engine, 1);
  const Nanos prefill = engine.prefill_time(engine.load(Tier::kWithinShare), before);
  EXPECT_GE(later, prefill - prefill / 16);
  EXPECT_LE(later, prefill + prefill / 16);
}

// Law: sequences of several engines end at the pace of each, and those that end first are counted
// first, wherever they run.
TEST(Ends, SeveralEnginesShareTheCount) {
  const EngineView one =
      engine_with({{cost::certain(Tokens(11)), 1}, {cost::certain(Tokens(301)), 1}});
  const EngineView other = engine_with({{cost::certain(Tokens(101)), 1}});
  const Runner both[] = {{&one, {}}, {&other, {}}};
  const std::pair<const EngineView*, std::int64_t> ends[] = {
      {&one, 10}, {&other, 100}, {&one, 300}};
  for (std::int64_t k = 1; k <= 3; ++k) {
    const auto& [engine, rest] = ends[k - 1];
    const auto tokens = tokens_in(*engine, ends_of_few(both, Tier::kWithinShare, k));
    EXPECT_GE(tokens, rest);
    EXPECT_LE(tokens, rest + rest / 32 + 1);
  }
}

// Law: no wait for nothing.
TEST(Ends, NothingIsNotWaitedFor) {
  EXPECT_EQ(wait_for(engine_with({{cost::certain(Tokens(10)), 1}}), 0), Nanos(0));
}

// Law: no more can end than run.
TEST(Ends, MoreThanRunNeverEnd) {
  EXPECT_EQ(wait_for(engine_with({{cost::certain(Tokens(10)), 1}}), 2), Nanos::max());
}

}  // namespace
}  // namespace tidegate::pool::testing
