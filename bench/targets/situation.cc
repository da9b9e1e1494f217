#include "situation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <variant>

#include "baselines/registry.h"
#include "config/scenario_load.h"
#include "report/summary.h"
#include "scenario/bounds.h"
#include "service_gap.h"
#include "sim/simulator.h"

namespace tidegate::bench {

using units::Instant;
using units::Nanos;

namespace {

constexpr double kAlmostAll = 0.999;
constexpr double kTolerance = 0.02;

[[noreturn]] void stop(const config::LoadErrors& errors) {
  for (const units::Error& each : errors) {
    std::fputs(fmt::format("{}: {}\n", each.where, each.message).c_str(), stderr);
  }
  std::exit(2);
}

scenario::Prepared prepare(const std::string& file, const Edit& edit) {
  auto config = config::load_scenario(file, {});
  if (!config) stop(config.error());
  if (edit) edit(*config);
  auto prepared = scenario::prepare(std::move(*config));
  if (!prepared) stop(prepared.error());
  return std::move(*prepared);
}

// Looks at a run from outside: what is served when, and what those who wait are told.
class Watch {
 public:
  Watch(const sim::World& world, Nanos arrivals)
      : begin_(Instant(0) + world.warmup),
        end_(Instant(0) + arrivals),
        gap_(world.pool.tenants.size()) {}

  void see(const domain::Event& event, const std::vector<domain::Decision>& decisions,
           Instant now) {
    if (const auto* arrived = std::get_if<domain::Arrived>(&event)) enter(arrived->request);
    if (const auto* tokens = std::get_if<domain::TokensProduced>(&event)) produced(*tokens, now);
    for (const domain::Decision& decision : decisions) {
      if (const auto* hold = std::get_if<domain::Hold>(&decision)) {
        seen_[hold->request].gives_up = hold->hopeless_after;
      } else if (const auto* end = std::get_if<domain::End>(&decision)) {
        leave(end->request);
      }
    }
  }
  // When waiting for it would have been given up, by what its caller was last told.
  Instant gives_up(units::RequestId id) const {
    const auto found = seen_.find(id);
    return found == seen_.end() ? Instant::never() : found->second.gives_up;
  }
  std::int64_t served() const { return served_; }
  std::int64_t served_meanwhile() const { return served_meanwhile_; }
  std::int64_t widest_gap() const { return gap_.widest(); }

 private:
  struct Seen {
    std::int64_t prompt = 0;
    std::size_t tenant = 0;
    bool begun = false;  // or ended: it waits no more
    Instant gives_up = Instant::never();
  };

  void enter(const domain::Request& request) {
    const auto tenant = static_cast<std::size_t>(request.tenant.value());
    seen_[request.id] = {request.footprint.prompt.value(), tenant};
    gap_.waits(tenant);
  }
  void produced(const domain::TokensProduced& tokens, Instant now) {
    const auto found = seen_.find(tokens.ref.request);
    if (found == seen_.end()) return;
    Seen& request = found->second;
    const std::int64_t prompt = request.begun ? 0 : request.prompt;
    gap_.served(request.tenant, prompt + 2 * tokens.count.value());
    if (!request.begun) gap_.waits_no_more(request.tenant);
    request.begun = true;
    served_ += prompt + tokens.count.value();
    if (now >= begin_ && now < end_) served_meanwhile_ += prompt + tokens.count.value();
  }
  void leave(units::RequestId id) {
    const auto found = seen_.find(id);
    if (found == seen_.end() || found->second.begun) return;
    found->second.begun = true;
    gap_.waits_no_more(found->second.tenant);
  }

  Instant begin_, end_;
  std::map<units::RequestId, Seen> seen_;
  ServiceGap gap_;
  std::int64_t served_ = 0;
  std::int64_t served_meanwhile_ = 0;
};

// Adds what the engines' memory held while requests arrived.
void add_memory(const report::Run& run, Instant begin, Instant end, Runs& runs) {
  const report::Timeline& timeline = run.timeline;
  for (std::size_t g = 0; g < timeline.groups().size(); ++g) {
    const auto& group = timeline.groups()[g];
    const double each =
        static_cast<double>(group.kv_capacity.value()) / static_cast<double>(group.engines);
    report::Level used;
    Instant at(0);
    for (const report::GroupSlice& slice : timeline.slices(g)) {
      if (at >= begin && at + timeline.slice_length() <= end) used.add(slice.kv_used);
      at = at + timeline.slice_length();
    }
    if (used.samples == 0) continue;
    const double mean = static_cast<double>(used.sum) / static_cast<double>(used.samples);
    const double share = 1.0 / static_cast<double>(timeline.groups().size());
    runs.kv_used += share * mean / each;
    runs.kv_peak = std::max(runs.kv_peak, static_cast<double>(used.max) / each);
  }
}

}  // namespace

void add_run(Runs& runs, sim::World world, const sim::Arrivals& arrivals, Nanos arrivals_for) {
  const auto policy = baselines::policy(runs.policy);
  if (!policy) stop({policy.error()});
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  Watch watch(world, arrivals_for);
  sim::Simulator simulator(world, arrivals, std::vector<std::string>(world.pool.models.size(), ""));
  simulator.observe([&](const auto& /*pool*/, const auto& event, const auto& decisions,
                        Instant now) { watch.see(event, decisions, now); });
  simulator.record([&](const sim::RequestLog::Ended& ended) {
    runs.requests.push_back({ended, watch.gives_up(ended.id)});
  });
  const report::Run run = simulator.run();
  runs.kept += run.totals.attainment_offered();
  runs.kept_of_class.resize(run.by_class.size());
  for (std::size_t i = 0; i < run.by_class.size(); ++i) {
    runs.kept_of_class[i] += run.by_class[i].second.attainment_offered();
  }
  runs.preemptions += run.totals.preemptions;
  runs.recomputed_tokens += run.totals.recomputed_tokens.value();
  runs.overcommits += run.kv.overcommits;
  add_memory(run, Instant(0) + world.warmup, Instant(0) + arrivals_for, runs);
  const double counted_s = static_cast<double>((arrivals_for - world.warmup).value()) / 1e9;
  runs.served_tokens += watch.served();
  runs.tokens_per_s += static_cast<double>(watch.served_meanwhile()) / counted_s;
  runs.widest_gap = std::max(runs.widest_gap, static_cast<double>(watch.widest_gap()));
}

void divide(Runs& runs, int by) {
  runs.kept /= by;
  for (double& kept : runs.kept_of_class) kept /= by;
  runs.kv_used /= by;
  runs.tokens_per_s /= by;
}

Situation::Situation(const std::string& file, Nanos drain, const Edit& edit)
    : prepared_(prepare(file, edit)), drain_(drain) {}

sim::World Situation::world_of(std::uint64_t seed) const {
  sim::World world = prepared_.world_of(seed);
  world.horizon += drain_;
  return world;
}

double Situation::rate(double load) const {
  double sum = 0;
  for (const config::WorkloadItem& item : config().workload) sum += item.generator->requests_per_s;
  return sum * load;
}

double Situation::bound(double load, int seeds) const {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const report::Bounds bounds =
        scenario::bounds_of(world_of(number), prepared_.sources.arrivals(number, load));
    sum += report::tightest(bounds)->value;
  }
  return sum / seeds;
}

double Situation::capacity() const {
  double high = 1;
  while (bound(high, 1) >= kAlmostAll * bound(high / 10, 1)) high *= 2;
  double low = high / 2;
  while (bound(low, 1) < kAlmostAll * bound(low / 10, 1)) low /= 2;
  high = std::min(high, 2 * low);
  const double wanted = kAlmostAll * bound(low / 10, 1);
  while (high - low > kTolerance * low) {
    const double middle = (low + high) / 2;
    (bound(middle, 1) >= wanted ? low : high) = middle;
  }
  return low;
}

Runs Situation::run(const std::string& policy, double load, int seeds) const {
  Runs runs;
  runs.policy = policy;
  for (int i = 1; i <= seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    add_run(runs, world_of(seed), prepared_.sources.arrivals(seed, load), config().run.length);
  }
  divide(runs, seeds);
  return runs;
}

}  // namespace tidegate::bench
