#include "baselines/registry.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "baselines/engine/prefill_first.h"
#include "baselines/engine/qoserve.h"
#include "baselines/engine/sarathi.h"
#include "baselines/engine/vllm_v1.h"
#include "baselines/engine/vtc.h"
#include "baselines/pool/cache_aware.h"
#include "baselines/pool/gated.h"
#include "baselines/pool/routing_pool.h"
#include "baselines/pool/spread.h"
#include "batch/composer.h"
#include "batch/core.h"
#include "pool/pool_scheduler.h"
#include "units/suggestion.h"

namespace tidegate::baselines {
namespace {

constexpr std::string_view kOwn = "tidegate";
// What a placement decides for when nothing else is said.
constexpr std::string_view kUsualEngine = "vllm-v1";

struct EngineEntry {
  std::string_view name;
  std::string_view placement;  // that its project ships
  std::unique_ptr<batch::StepPolicy> (*make)(batch::Core& core);
  bool own_batching = false;  // Policy::own_batching
};

struct PlacementEntry {
  std::string_view name;
  std::unique_ptr<Router> (*make)(const pool::PoolConfig& config);
  std::unique_ptr<pool::Scheduler> (*whole)(const pool::PoolConfig& config) = nullptr;
};

template <class Made>
std::unique_ptr<batch::StepPolicy> engine(batch::Core& core) {
  return std::make_unique<Made>(core);
}

template <class Made>
std::unique_ptr<Router> router(const pool::PoolConfig& /*config*/) {
  return std::make_unique<Made>();
}

template <class Made>
std::unique_ptr<Router> seeded_router(const pool::PoolConfig& config) {
  return std::make_unique<Made>(config.seed);
}

std::unique_ptr<Router> slots(const pool::PoolConfig& config) {
  return std::make_unique<Slots>(std::max<std::size_t>(1, config.classes.size()));
}

// Ablations of the house's own: everything but the shadow price,
std::unique_ptr<pool::Scheduler> unpriced(const pool::PoolConfig& config) {
  pool::PoolConfig own = config;
  own.policy.queue_target = units::Ppm(0);
  return std::make_unique<pool::PoolScheduler>(std::move(own));
}

// everything, but streams that are ahead of their promise keep its pace,
std::unique_ptr<batch::StepPolicy> unspent(batch::Core& core) {
  core.config.slack_spent = units::Ppm(0);
  return std::make_unique<batch::Composer>(core);
}

// and everything, but a promised prompt leaves a part of the step to those behind it.
std::unique_ptr<batch::StepPolicy> shared(batch::Core& core) {
  core.config.promised_prompt_share = core.config.long_prompt_share;
  return std::make_unique<batch::Composer>(core);
}

constexpr EngineEntry kEngines[] = {
    {kOwn, kOwn, nullptr, true},
    {"unspent", kOwn, unspent, true},
    {"shared", kOwn, shared, true},
    {"fcfs", "round-robin", engine<PrefillFirst>},
    {"sarathi", "round-robin", engine<Sarathi>},
    {"edf", "round-robin", engine<SarathiEdf>},
    {"vllm-v1", "round-robin", engine<VllmV1>},
    {"qoserve", "round-robin", engine<QoServe>},
    {"vtc", "round-robin", engine<Vtc>},
};

constexpr PlacementEntry kPlacements[] = {
    {kOwn, nullptr},
    {"unpriced", nullptr, unpriced},
    {"round-robin", router<RoundRobin>},
    {"random", seeded_router<Random>},
    {"power-of-two", seeded_router<PowerOfTwo>},
    {"least-requests", router<LeastRequests>},
    {"least-kv", router<LeastKv>},
    {"prefix-affinity", router<PrefixAffinity>},
    {"epp", seeded_router<Epp>},
    {"slots", slots},
    {"pool-tokens", router<PoolTokens>},
};

template <class Entry, std::size_t kSize>
std::vector<std::string> names_of(const Entry (&entries)[kSize]) {
  std::vector<std::string> names;
  std::transform(std::begin(entries), std::end(entries), std::back_inserter(names),
                 [](const Entry& entry) { return std::string(entry.name); });
  return names;
}

template <class Entry, std::size_t kSize>
bool has(const Entry (&entries)[kSize], std::string_view name) {
  return std::any_of(std::begin(entries), std::end(entries),
                     [&](const Entry& entry) { return entry.name == name; });
}

template <class Entry, std::size_t kSize>
units::Result<Entry> find(const Entry (&entries)[kSize], std::string_view name, const char* kind) {
  const auto* found = std::find_if(std::begin(entries), std::end(entries),
                                   [&](const Entry& entry) { return entry.name == name; });
  if (found != std::end(entries)) return *found;
  return units::error("policy", std::string("there is no ") + kind + " '" + std::string(name) +
                                    "'; " + units::suggestion(name, names_of(entries)));
}

pool::SchedulerFactory routing(const PlacementEntry& placement) {
  if (placement.whole != nullptr) return placement.whole;
  if (placement.make == nullptr) return {};
  return [make = placement.make](const pool::PoolConfig& config) {
    return std::make_unique<RoutingPool>(config, make(config));
  };
}

}  // namespace

units::Result<Policy> policy(std::string_view name) {
  const std::size_t slash = name.find('/');
  const bool placement_only =
      slash == std::string_view::npos && !has(kEngines, name) && has(kPlacements, name);
  if (placement_only) return policy(std::string(kUsualEngine) + "/" + std::string(name));
  const auto engine = find(kEngines, name.substr(0, slash), "engine policy");
  if (!engine) return tl::unexpected(engine.error());
  const std::string_view place =
      slash == std::string_view::npos ? engine->placement : name.substr(slash + 1);
  const auto placement = find(kPlacements, place, "placement");
  if (!placement) return tl::unexpected(placement.error());
  Policy made;
  made.name = std::string(engine->name) + "/" + std::string(placement->name);
  if (engine->make != nullptr) made.engine = engine->make;
  made.pool = routing(*placement);
  made.own_batching = engine->own_batching;
  return made;
}

std::vector<std::string> engine_names() {
  return names_of(kEngines);
}

std::vector<std::string> placement_names() {
  return names_of(kPlacements);
}

}  // namespace tidegate::baselines
