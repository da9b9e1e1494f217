// Below and beyond the pool's capacity: three classes in equal parts, lengths of two traces.
#include <fmt/format.h>

#include "requests.h"
#include "rows.h"

namespace tidegate::bench {
namespace {

// Longer than the loosest class waits for its first token and streams go on.
constexpr units::Nanos kDrain = units::seconds(120);
const char* const kBaselines[] = {"fcfs",    "sarathi", "edf",
                                  "vllm-v1", "qoserve", "qoserve/least-requests"};
const char* const kLengths[] = {"code", "conversations"};

double kept(const Runs& runs) {
  return runs.kept;
}

double kept_of_tightest(const Runs& runs) {
  return runs.kept_of_class.front();
}

double tokens(const Runs& runs) {
  return static_cast<double>(runs.served_tokens);
}

struct Compared {
  std::string situation;
  double bound = 1;
  Runs own;
  std::vector<Runs> others;

  // The best baseline by `figure`, with its name.
  template <class Value>
  Figure best(const Value& value) const {
    const Runs& run = *best_of(others, value);
    return with(share(value(run)), run.policy);
  }
};

Compared compare(const Situation& situation, double load, int seeds) {
  Compared compared;
  compared.bound = situation.bound(load, seeds);
  compared.own = situation.run("tidegate", load, seeds);
  for (const char* policy : kBaselines) {
    compared.others.push_back(situation.run(policy, load, seeds));
  }
  return compared;
}

template <class Measure>
void at_loads(const Bench& bench, const std::vector<double>& loads, const Measure& measure) {
  for (const char* lengths : kLengths) {
    const Situation situation(bench.file(std::string("three_classes_") + lengths), kDrain);
    const double capacity = situation.capacity();
    for (const double load : loads) {
      Compared compared = compare(situation, load * capacity, bench.seeds);
      compared.situation =
          fmt::format("{:g}x ({:.0f}/s), {}", load, situation.rate(load * capacity), lengths);
      measure(compared);
    }
  }
}

}  // namespace

void underload(const Bench& bench) {
  at_loads(bench, {0.6, 0.8}, [&](const Compared& c) {
    const double refused = share_refused(c.own, anybody());
    bench.add({c.situation, "kept >= bound - 0.5 points", share(c.own.kept),
               c.own.kept >= c.bound - 0.005, c.best(kept), share(c.bound)});
    bench.add({c.situation, "nothing refused that the bound keeps", share(refused),
               refused <= 1 - c.bound + 1e-9, std::nullopt, share(1 - c.bound)});
    const Runs& fastest = *best_of(c.others, tokens);
    const double speed = tokens(c.own) / tokens(fastest);
    bench.add({c.situation, "tokens >= 0.99 of the best baseline", ratio(speed), speed >= 0.99,
               with(ratio(1), fastest.policy)});
  });
}

void overload(const Bench& bench) {
  at_loads(bench, {1.0, 1.3, 1.6, 2.0}, [&](const Compared& c) {
    const double of_bound = c.own.kept / c.bound;
    bench.add({c.situation, "kept >= 0.95 of the bound",
               with(share(c.own.kept), fmt::format("{:.3f} of it", of_bound)), of_bound >= 0.95,
               c.best(kept), share(c.bound)});
    bench.add({c.situation, "kept above every baseline", share(c.own.kept),
               c.own.kept > best_of(c.others, kept)->kept, c.best(kept)});
    bench.add({c.situation, "the same in the tightest class", share(kept_of_tightest(c.own)),
               kept_of_tightest(c.own) > kept_of_tightest(*best_of(c.others, kept_of_tightest)),
               c.best(kept_of_tightest)});
    const double admitted = share_kept_of_admitted(c.own);
    bench.add({c.situation, "kept of admitted >= 99 %", share(admitted), admitted >= 0.99,
               c.best(share_kept_of_admitted)});
    const double in_time = share_refused_in_time(c.own);
    bench.add({c.situation, "refused in 50 ms or when hopeless",
               with(share(in_time), fmt::format("p99 {:.1f} s", p99_refusal(c.own))),
               in_time >= 1});
  });
}

}  // namespace tidegate::bench
