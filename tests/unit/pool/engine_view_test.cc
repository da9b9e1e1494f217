// The sums that an engine's ledger keeps against sums made anew from every pledge.
#include "pool/placement/engine_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pool_env.h"
#include "units/prng.h"

namespace tidegate::pool::testing {
namespace {

using domain::Tier;
using units::Nanos;
using units::Tokens;

constexpr PoolPolicy kPolicy{};
constexpr Tier kTiers[] = {Tier::kGuaranteed, Tier::kWithinShare, Tier::kAboveShare,
                           Tier::kBestEffort};

bool gates(const EngineView& engine, const Pledge& pledge, Tier tier) {
  if (!pledge.used) return false;
  return !(engine.spec().own_batching && pledge.tier == Tier::kBestEffort &&
           tier != Tier::kBestEffort);
}

// What gates `tier`, pledge by pledge, as the fields of Load say.
Load summed(const EngineView& engine, Tier tier) {
  Load load;
  for (const Pledge& pledge : engine.ledger()) {
    if (!gates(engine, pledge, tier)) continue;
    load.sequences += 1;
    load.held += pledge.held;
    if (pledge.ghost()) continue;
    load.remaining += pledge.remaining.mean;
    load.variance += pledge.remaining.variance;
    const bool paced = pledge.promise.token_pace > Nanos(0) && !pledge.late;
    if (paced) load.promised_pace = std::min(load.promised_pace, pledge.promise.token_pace);
    if (pledge.produced == Tokens(0)) {
      load.prefill += prefill_work(pledge.footprint.prompt, pledge.prefill_left);
      continue;
    }
    if (paced) load.running_pace = std::min(load.running_pace, pledge.promise.token_pace);
    load.decodes += 1;
    load.decode_context += pledge.context;
  }
  return load;
}

Work summed_ahead(const EngineView& engine, Tier tier, const OrderKey& key) {
  Work work;
  for (const Pledge& pledge : engine.ledger()) {
    if (!pledge.used || pledge.ghost() || pledge.produced > Tokens(0)) continue;
    const bool first = pledge.tier != tier ? pledge.tier < tier : pledge.key < key;
    if (first) work += prefill_work(pledge.footprint.prompt, pledge.prefill_left);
  }
  return work;
}

Tokens summed_peak(const EngineView& engine, Tier tier, const cost::Resident& extra) {
  std::vector<cost::Resident> residents{extra};
  for (const Pledge& pledge : engine.ledger()) {
    if (!gates(engine, pledge, tier)) continue;
    residents.push_back({pledge.held, pledge.ghost() ? cost::Remaining{} : pledge.remaining});
  }
  return cost::predicted_peak(residents, kPolicy.peak_z_thousandths);
}

// An engine on which requests start, produce, lose their callers, end and are reported at random.
class RandomEngine {
 public:
  RandomEngine(std::uint64_t seed, bool own_batching) : engine(spec(own_batching), kPolicy) {
    prng = units::Prng(seed);
  }

  void act() {
    now = now + units::microseconds(prng.between(1, 20'000));
    const std::uint64_t what = prng.below(12);
    if (live_.empty() || what < 3) return add();
    const std::size_t which = prng.below(live_.size());
    const PledgeIndex index = live_[which];
    const Pledge& pledge = engine.pledge(index);
    if (what == 3) return report();
    if (what == 4 && !pledge.ghost()) return engine.disown(index);
    const Tokens room = pledge.footprint.max_output - pledge.produced;
    if (what < 11 && !pledge.ghost() && room > Tokens(0)) {
      engine.accept(index);
      engine.produce(index, std::min(room, Tokens(prng.between(1, 40))), now);
      return;
    }
    engine.release(index);
    live_[which] = live_.back();
    live_.pop_back();
  }
  OrderKey any_key() {
    const auto due = prng.below(4) == 0 ? units::Instant::never()
                                        : now + units::milliseconds(prng.between(0, 3'000));
    return {due, due, units::RequestId(++ids_)};
  }

  EngineView engine;
  units::Prng prng{0};
  units::Instant now;

 private:
  static domain::EngineSpec spec(bool own_batching) {
    domain::EngineSpec spec = engine_spec(1);
    spec.own_batching = own_batching;
    return spec;
  }
  void add() {
    const std::int64_t output = prng.between(1, 300);
    domain::Request r = request(++ids_, prng.between(1, 2'000), output);
    r.footprint.output = cost::uninformed(Tokens(output), Tokens(output));
    const OrderKey key = any_key();
    if (key.due != units::Instant::never()) {
      r.promise = {key.due, units::milliseconds(prng.between(0, 5) * 10), units::Instant::never()};
    }
    const domain::AttemptRef ref{r.id, units::Attempt(1), engine.spec().id, engine.spec().epoch};
    const Tier tier = kTiers[prng.below(4)];
    live_.push_back(engine.add({ref, static_cast<SlotIndex>(r.id.value()), tier, key}, r));
  }
  void report() {
    domain::StateReport report;
    report.engine = engine.spec().id;
    report.epoch = engine.spec().epoch;
    Tokens left{0};
    for (const PrefillLine::Place& place : engine.prefilling().places()) left += place.work.prefill;
    report.prefill_backlog = Tokens(prng.between(0, left.value()));
    engine.report(report);
  }

  std::vector<PledgeIndex> live_;
  std::uint64_t ids_ = 0;
};

void expect_sums(RandomEngine& world, Tier tier) {
  const Load& load = world.engine.load(tier);
  const Load sums = summed(world.engine, tier);
  EXPECT_EQ(load.sequences, sums.sequences);
  EXPECT_EQ(load.decodes, sums.decodes);
  EXPECT_EQ(load.decode_context, sums.decode_context);
  EXPECT_EQ(load.held, sums.held);
  EXPECT_EQ(load.remaining, sums.remaining);
  EXPECT_EQ(load.variance, sums.variance);
  EXPECT_EQ(load.running_pace, sums.running_pace);
  EXPECT_EQ(load.promised_pace, sums.promised_pace);
  EXPECT_EQ(load.prefill, sums.prefill);
  const OrderKey key = world.any_key();
  EXPECT_EQ(world.engine.ahead_of(tier, key), summed_ahead(world.engine, tier, key));
  const cost::Resident extra{Tokens(160), {Tokens(world.prng.between(1, 200)), 900}};
  EXPECT_EQ(world.engine.peak(tier, &extra, Tokens(0)), summed_peak(world.engine, tier, extra));
}

void expect_sums_while_it_acts(std::uint64_t seed, bool own_batching) {
  RandomEngine world(seed, own_batching);
  for (int i = 0; i < 400; ++i) {
    world.act();
    for (const Tier tier : kTiers) expect_sums(world, tier);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << " act " << i;
  }
}

// Sums kept as pledges change equal sums made anew, for every tier of newcomer, whether or not best
// effort makes way there.
TEST(EngineView, KeptSumsEqualSumsMadeAnew) {
  for (const bool own_batching : {true, false}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) expect_sums_while_it_acts(seed, own_batching);
  }
}

// The bound holds for the work itself and for every part of it, whatever decodes beside it.
TEST(EngineView, PrefillTimeBoundCoversEveryPart) {
  units::Prng prng(5);
  for (int round = 0; round < 2'000; ++round) {
    domain::EngineSpec spec = engine_spec(1);
    spec.law.base_fs = prng.between(0, 2'000'000'000'000);
    spec.law.knees = {Tokens(prng.between(0, 300)), Tokens(prng.between(300, 2'000))};
    spec.law.per_token_fs = {0, prng.between(0, 50'000'000'000), prng.between(0, 100'000'000'000)};
    spec.law.per_attention_fs = prng.between(0, 3'000'000);
    const EngineView engine(spec, kPolicy);
    Load load;
    load.decodes = prng.between(0, 64);
    load.chunk = Tokens(prng.between(1, 600));
    const Work whole{.prefill = Tokens(prng.between(1, 9'000)),
                     .attention = prng.between(0, 50'000'000)};
    const Nanos bound = engine.prefill_time_bound(load, whole);
    for (int i = 0; i < 20; ++i) {
      const Work part{.prefill = Tokens(prng.between(0, whole.prefill.value())),
                      .attention = prng.between(0, whole.attention)};
      EXPECT_LE(engine.prefill_time(load, part), bound);
    }
    EXPECT_LE(engine.prefill_time(load, whole), bound);
  }
}

}  // namespace
}  // namespace tidegate::pool::testing
