// Demand that swings, memory that is full, callers who come back, predictions that are wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "requests.h"
#include "rows.h"

namespace tidegate::bench {
namespace {

constexpr units::Nanos kDrain = units::seconds(90);

// --- The swing: low for a minute, then ten times as much for a minute.
constexpr double kHalfPeriodSeconds = 60;
constexpr double kRecoverySeconds = 10;
constexpr double kPeakOverMean = 10 / 5.5;

double since_fall(const Ended& each) {
  const double at = static_cast<double>(each.request.record.arrival.ns()) / 1e9;
  return std::fmod(at, 2 * kHalfPeriodSeconds);
}

Choice in_trough_from(double begin_s) {
  return [begin_s](const Ended& each) {
    const double at = since_fall(each);
    return at >= begin_s && at < kHalfPeriodSeconds;
  };
}

// Seconds after a fall until nine in ten of those who arrive within a second, over all falls and
// seeds, wait for their first token no longer than half as long again as nine in ten do in the
// second half of the troughs.
double recovery(const Runs& runs) {
  const auto waits = [&](double from, double to) {
    return [from, to](const Ended& each) {
      const bool fell = each.request.record.arrival >= units::Instant(0) + units::seconds(60);
      return fell && since_fall(each) >= from && since_fall(each) < to;
    };
  };
  const double normal =
      quantile(ttfts(runs, waits(kHalfPeriodSeconds / 2, kHalfPeriodSeconds)), 0.9);
  double last = 0;
  for (double second = 0; second < kHalfPeriodSeconds; second += 1) {
    const double waited = quantile(ttfts(runs, waits(second, second + 1)), 0.9);
    if (waited > 1.5 * normal) last = second + 1;
  }
  return last;
}

// --- Memory.
constexpr double kMemoryLoad = 0.9;

// The least load at which memory is that full on average, or as full as it gets.
double load_with_full_memory(const Situation& situation) {
  double high = 0.25;
  while (high < 64 && situation.run("tidegate", high, 1).kv_used < kMemoryLoad) high *= 2;
  double low = high / 2;
  if (high >= 64) return low;
  for (int i = 0; i < 5; ++i) {
    const double middle = (low + high) / 2;
    (situation.run("tidegate", middle, 1).kv_used < kMemoryLoad ? low : high) = middle;
  }
  return high;
}

std::string memory_remark(const Runs& runs) {
  return fmt::format("{} of {} requests", runs.preemptions, runs.requests.size());
}

double preempted(const Runs& runs) {
  return static_cast<double>(runs.preemptions) / static_cast<double>(runs.requests.size());
}

// --- Retries.
double goodput(const Runs& runs) {
  return static_cast<double>(
      std::count_if(runs.requests.begin(), runs.requests.end(),
                    [](const Ended& each) { return report::kept_promise(each.request.record); }));
}

Edit callers_return(std::int64_t most, std::optional<units::Nanos> wait) {
  return [most, wait](config::ScenarioConfig& config) {
    for (config::WorkloadItem& item : config.workload) {
      item.retries = most;
      item.retry_wait = wait;
    }
  };
}

// --- Predictions.
units::Ppm inverse(double factor) {
  return units::Ppm(std::llround(1e6 / factor));
}

struct WrongPrediction {
  std::string what;
  units::Ppm config::RunSettings::*bias;
  std::vector<double> factors;  // of the truth over what is believed
  double most = 0;              // of what is kept, that may be lost by it
};

struct Kept {
  double own = 0;
  double other = 0;  // by qoserve
};

Kept kept_of(const Bench& bench, const Edit& edit, double load) {
  const Situation situation(bench.file("three_classes_conversations"), units::seconds(120), edit);
  return {situation.run("tidegate", load, bench.seeds).kept,
          situation.run("qoserve", load, bench.seeds).kept};
}

void wrong_by(const Bench& bench, const WrongPrediction& wrong, double load, double capacity) {
  const Kept right = kept_of(bench, {}, load * capacity);
  for (const double factor : wrong.factors) {
    const Edit edit = [&](config::ScenarioConfig& config) {
      config.run.*wrong.bias = inverse(factor);
    };
    const Kept kept = kept_of(bench, edit, load * capacity);
    const double lost = right.own - kept.own;
    bench.add({fmt::format("{} {:g}x what is believed, {:g}x load", wrong.what, factor, load),
               fmt::format("kept falls by <= {:g} points", wrong.most * 100),
               with(points(lost), fmt::format("{:.3f} after {:.3f}", kept.own, right.own)),
               lost <= wrong.most, with(points(right.other - kept.other), "qoserve")});
  }
}

void wrong_at_loads(const Bench& bench, const WrongPrediction& wrong) {
  const Situation right(bench.file("three_classes_conversations"), units::seconds(120));
  const double capacity = right.capacity();
  for (const double load : {1.0, 1.6}) wrong_by(bench, wrong, load, capacity);
}

}  // namespace

void swing(const Bench& bench) {
  const Situation situation(bench.file("swing"), kDrain);
  const Situation steady(bench.file("swing"), kDrain, [](config::ScenarioConfig& config) {
    config.workload.front().generator->shape = {};
  });
  const double load = 1.3 * steady.capacity() / kPeakOverMean;
  const Runs own = situation.run("tidegate", load, bench.seeds);
  const Runs other = situation.run("qoserve", load, bench.seeds);
  const Choice trough = in_trough_from(kRecoverySeconds);
  const std::string name = "10x swing, peak 1.3x";
  bench.add({name, "kept at the trough 100 %", share(share_kept(own, trough)),
             share_kept(own, trough) >= 1, with(share(share_kept(other, trough)), other.policy)});
  bench.add({name, "normal waits <= 10 s after the fall", seconds(recovery(own)),
             recovery(own) <= kRecoverySeconds, with(seconds(recovery(other)), other.policy)});
}

void memory(const Bench& bench) {
  const Situation situation(bench.file("memory"), units::seconds(300));
  const double load = load_with_full_memory(situation);
  const Runs own = situation.run("tidegate", load, bench.seeds);
  const Runs other = situation.run("vllm-v1", load, bench.seeds);
  const std::string name =
      fmt::format("memory, {:.2f} full on average, {:.2f} at most", own.kv_used, own.kv_peak);
  bench.add(
      {name, "preemptions < 0.1 % of requests", with(share(preempted(own)), memory_remark(own)),
       preempted(own) < 0.001,
       with(share(preempted(other)), fmt::format("{}, {:.2f} full", other.policy, other.kv_used))});
  bench.add(
      {name, "overcommits 0", count(static_cast<double>(own.overcommits)), own.overcommits == 0});
  const double recomputed =
      static_cast<double>(own.recomputed_tokens) / static_cast<double>(own.served_tokens);
  const double others =
      static_cast<double>(other.recomputed_tokens) / static_cast<double>(other.served_tokens);
  bench.add({name, "recomputed < 1 % of tokens", share(recomputed), recomputed < 0.01,
             with(share(others), other.policy)});
}

void retry_storm(const Bench& bench) {
  const std::string file = bench.file("retries");
  const Situation none(file, units::Nanos(0), callers_return(0, std::nullopt));
  const double load = 1.6 * none.capacity();
  const Runs calm = none.run("tidegate", load, bench.seeds);
  const auto asked = static_cast<double>(calm.requests.size());
  const double other = goodput(none.run("qoserve", load, bench.seeds));
  const auto measure = [&](const char* name, const Edit& edit) {
    const Runs storm = Situation(file, units::Nanos(0), edit).run("tidegate", load, bench.seeds);
    const double more = static_cast<double>(storm.requests.size()) / asked;
    const double kept = goodput(storm) / goodput(calm);
    bench.add({name, "goodput >= 0.95 of no retries",
               with(ratio(kept), fmt::format("{:.2f} times the requests", more)), kept >= 0.95,
               with(ratio(other / goodput(calm)), "qoserve, which refuses nobody")});
  };
  measure("refused callers return as told, 1.6x", callers_return(2, std::nullopt));
  measure("refused callers return after 0.5 s, 1.6x", callers_return(5, units::milliseconds(500)));
}

void wrong_lengths(const Bench& bench) {
  wrong_at_loads(bench, {.what = "lengths",
                         .bias = &config::RunSettings::length_bias,
                         .factors = {0.3, 0.5, 2, 3},
                         .most = 0.10});
}

void wrong_step_times(const Bench& bench) {
  wrong_at_loads(bench, {.what = "step times",
                         .bias = &config::RunSettings::step_time_bias,
                         .factors = {0.8, 1.2},
                         .most = 0.05});
}

}  // namespace tidegate::bench
