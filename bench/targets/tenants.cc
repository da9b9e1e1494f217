// Tenants beside each other: long prompts among short ones, a flood, a guarantee, fair shares. Most
// rows compare a run with one without the disturbance, of which the others' requests are the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "baselines/engine/vtc.h"
#include "requests.h"
#include "rows.h"

namespace tidegate::bench {
namespace {

constexpr units::Nanos kDrain = units::seconds(90);
const char* const kBaselines[] = {"vllm-v1", "qoserve", "vtc"};

void without_last(config::ScenarioConfig& config) {
  config.workload.pop_back();
}

// A run beside the one it is compared with.
struct Pair {
  Runs with;
  Runs without;
};

using Quantile = double (*)(const Runs& runs, const Choice& chosen);

// How much more the chosen wait than without the disturbance.
double growth(const Pair& pair, Quantile quantile, const Choice& chosen) {
  const double with = quantile(pair.with, chosen);
  if (std::isinf(with)) return with;  // whatever it was without
  return with / quantile(pair.without, chosen);
}

std::string before_and_after(const Pair& pair, Quantile quantile, const Choice& chosen) {
  return fmt::format("{} after {}", milliseconds(quantile(pair.with, chosen) * 1e3).text,
                     milliseconds(quantile(pair.without, chosen) * 1e3).text);
}

class Pairs {
 public:
  Pairs(const Situation& with, const Situation& without, double load, int seeds) {
    const auto both = [&](const char* policy) {
      return Pair{with.run(policy, load, seeds), without.run(policy, load, seeds)};
    };
    own_ = both("tidegate");
    for (const char* policy : kBaselines) others_.push_back(both(policy));
  }

  const Pair& own() const { return own_; }
  const std::vector<Pair>& others() const { return others_; }

  // The figure of those with the disturbance may be so many times the one of those without.
  struct Limit {
    std::string target;
    Quantile quantile;
    Choice chosen;
    double most = 1;
  };
  Finding held_to(const std::string& situation, const Limit& limit) const {
    const auto grown = [&](const Pair& pair) { return growth(pair, limit.quantile, limit.chosen); };
    const Pair* best = &others_.front();
    for (const Pair& each : others_) {
      if (grown(each) < grown(*best)) best = &each;
    }
    const Figure own =
        bench::with(ratio(grown(own_)), before_and_after(own_, limit.quantile, limit.chosen));
    return {situation, limit.target, own, own.value <= limit.most,
            bench::with(ratio(grown(*best)), best->with.policy)};
  }

 private:
  Pair own_;
  std::vector<Pair> others_;
};

// The baseline that keeps the most of what is chosen.
Figure best_kept(const std::vector<Pair>& pairs, const Choice& chosen) {
  std::optional<Figure> best;
  for (const Pair& each : pairs) {
    const double kept = share_kept(each.with, chosen);
    if (!best || kept > best->value) best = with(share(kept), each.with.policy);
  }
  return *best;
}

}  // namespace

void long_prompts(const Bench& bench) {
  const Situation both(bench.file("long_prompts"), kDrain);
  const Situation alone(bench.file("long_prompts"), kDrain, without_last);
  const double capacity = both.capacity();
  const Choice shorts = of_class(0);
  const Choice longs = of_class(1);
  for (const double load : {0.6, 0.8}) {
    const Pairs pairs(both, alone, load * capacity, bench.seeds);
    const std::string situation = fmt::format("1 % long prompts, {:g}x", load);
    bench.add(
        pairs.held_to(situation, {"short p99 TTFT <= 1.2 of without", p99_ttft, shorts, 1.2}));
    const double kept = share_kept(pairs.own().with, longs);
    bench.add({situation, "every long one kept", share(kept), kept >= 1,
               best_kept(pairs.others(), longs)});
  }
}

void flood(const Bench& bench) {
  const Situation flooded(bench.file("flood"), kDrain);
  const Situation before(bench.file("flood"), kDrain, without_last);
  const Choice others = of_tenants_before(4);
  const Pairs pairs(flooded, before, 0.6 * before.capacity(), bench.seeds);
  const std::string situation = "flood at 100x, others 0.6x";
  bench.add(
      pairs.held_to(situation, {"others' p99 TTFT <= 1.05 of without", p99_ttft, others, 1.05}));
  bench.add(
      pairs.held_to(situation, {"others' p99 TPOT <= 1.05 of without", p99_tpot, others, 1.05}));
  const double kept = share_kept(pairs.own().with, others);
  const double kept_before = share_kept(pairs.own().without, others);
  bench.add({situation, "others keep as much, less 0.5 points",
             with(share(kept), "after " + share(kept_before).text), kept >= kept_before - 0.005,
             best_kept(pairs.others(), others)});
}

void guarantee(const Bench& bench) {
  const Situation both(bench.file("guarantee"), kDrain);
  const Situation alone(bench.file("guarantee"), kDrain, without_last);
  const Situation pure(bench.file("guarantee"), kDrain, [](config::ScenarioConfig& config) {
    config.tenants.front().values.guarantee.reset();
    config.tenants.front().values.on_overload = domain::OnOverload::kQueue;
    config.workload.front().service_class = units::ClassId(1);
  });
  const double load = 0.3 * alone.capacity();
  const Choice bank = of_tenants_before(1);
  const Pairs pairs(both, alone, load, bench.seeds);
  const std::string situation = "guarantee 0.3x, best effort 1.5x";
  bench.add(pairs.held_to(situation, {"guaranteed p99 TTFT <= 1.1 of alone", p99_ttft, bank, 1.1}));
  bench.add(pairs.held_to(situation, {"guaranteed p99 TPOT <= 1.1 of alone", p99_tpot, bank, 1.1}));
  const double kept = share_kept(pairs.own().with, bank);
  bench.add({situation, "guaranteed kept >= 99 %", share(kept), kept >= 0.99,
             best_kept(pairs.others(), bank)});
  const Runs all_best_effort = pure.run("tidegate", load, bench.seeds);
  const double speed = pairs.own().with.tokens_per_s / all_best_effort.tokens_per_s;
  std::optional<Figure> fastest;
  for (const Pair& each : pairs.others()) {
    const double other = each.with.tokens_per_s / all_best_effort.tokens_per_s;
    if (!fastest || other > fastest->value) fastest = with(ratio(other), each.with.policy);
  }
  bench.add(
      {situation, "tokens/s >= 0.95 of pure best effort", ratio(speed), speed >= 0.95, fastest});
}

// All tenants are best effort and always have something waiting. The bound is VTC's, with the most
// tokens that a batch held in the run itself, which is at most what memory holds.
void fairness(const Bench& bench) {
  const Situation situation(bench.file("fairness"), units::Nanos(0));
  const double load = 2 * situation.capacity();
  const domain::EngineSpec& spec = situation.world().engines.front().batch.spec;
  const auto memory =
      static_cast<double>((spec.kv.block_tokens * spec.limits.kv_blocks.value()).value());
  const auto bound = [&](const Runs& runs) {
    double longest = 0;
    for (const Ended& each : runs.requests) {
      longest = std::max(longest, static_cast<double>(each.request.record.input.value()));
    }
    return 2 * std::max(baselines::Vtc::kPromptWeight * longest,
                        baselines::Vtc::kOutputWeight * runs.kv_peak * memory);
  };
  const Runs own = situation.run("tidegate", load, bench.seeds);
  const Runs other = situation.run("vtc", load, bench.seeds);
  bench.add({"four tenants, all waiting, 2x", "service gap <= VTC's bound",
             with(count(own.widest_gap), "tokens by weight"), own.widest_gap <= bound(own),
             with(count(other.widest_gap), other.policy), count(bound(own))});
}

}  // namespace tidegate::bench
