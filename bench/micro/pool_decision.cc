// What one decision of the pool costs: 64 engines, 12 models, 16 tenants and 10,000 waiting
// requests; and 1,024 engines, 12 models, 100 tenants and 100,000 waiting requests. Every engine is
// full, so that each end of a sequence releases the next in line and each arrival has to be judged
// against everything that waits. Prints median and p99 per kind of event.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cost/length_forecast.h"
#include "pool/pool_scheduler.h"

namespace tidegate::pool {
namespace {

constexpr std::int64_t kSequences = 64;

struct Scale {
  std::uint64_t models = 12;
  std::uint64_t engines = 64;
  std::uint64_t tenants = 16;
  std::int64_t queued = 10'000;
};
constexpr Scale kRack{};
constexpr Scale kHall{.engines = 1'024, .tenants = 100, .queued = 100'000};

domain::EngineSpec engine(std::uint64_t id, std::uint64_t models) {
  domain::EngineSpec spec;
  spec.id = units::EngineId(id);
  spec.epoch = units::Epoch(1);
  spec.model = units::ModelId(id % models);
  spec.limits = {units::Blocks(20'000), kSequences, units::Tokens(2'048), units::Tokens(32'768)};
  spec.law.base_fs = 8'000'000'000'000;  // 8 ms
  spec.law.per_token_fs.fill(30'000'000'000);
  spec.law.per_decode_fs = 50'000'000'000;
  spec.law.per_kv_token_fs = 50'000'000;
  spec.law.per_attention_fs = 1'000;
  spec.calibrated = true;
  return spec;
}

PoolConfig configuration(const Scale& scale) {
  PoolConfig config;
  for (std::uint64_t i = 0; i < scale.models; ++i) config.models.emplace_back(i);
  for (std::uint64_t i = 0; i < scale.tenants; ++i) {
    domain::Tenant tenant;
    tenant.id = units::TenantId(i);
    tenant.weight = static_cast<std::int64_t>(1 + i % 4);
    tenant.on_overload = domain::OnOverload::kQueue;
    config.tenants.push_back(tenant);
  }
  // An engine is full of promises, and of best effort that would make way for more of them.
  const std::int64_t running = static_cast<std::int64_t>(scale.engines) * 2 * kSequences;
  config.limits = {.max_requests = scale.queued + running + 1'000,
                   .max_queued = scale.queued + 100,
                   .max_engines = static_cast<std::int64_t>(scale.engines)};
  return config;
}

// The pool, a full queue, and what runs on the engines.
class World {
 public:
  explicit World(const Scale& scale) : scale_(scale), pool_(configuration(scale)), prng_(7) {
    for (std::uint64_t i = 0; i < scale.engines; ++i) {
      step(domain::EngineJoined{engine(i, scale.models)});
    }
    while (!full()) arrive();
  }

  void arrive() {
    domain::Request request;
    request.id = units::RequestId(++ids_);
    request.tenant = units::TenantId(prng_.below(scale_.tenants));
    request.model = units::ModelId(prng_.below(scale_.models));
    request.arrival = now_;
    request.footprint.prompt = units::Tokens(prng_.between(50, 4'000));
    request.footprint.max_output = units::Tokens(1'024);
    request.footprint.output = cost::uninformed(units::Tokens(1'024), units::Tokens(600));
    if (!prng_.chance(units::Ppm(200'000))) {
      request.promise.first_token_due = now_ + units::seconds(prng_.between(3'600, 7'200));
      request.promise.token_pace = units::milliseconds(prng_.between(60, 100));
    }
    step(domain::Arrived{request});
  }
  void produce() {
    const domain::AttemptRef& ref = running_[next_ % running_.size()];
    next_ += 1;
    const SlotIndex slot = pool_.requests().find(ref.request);
    const Entry& entry = pool_.requests()[slot];
    const Pledge& pledge = pool_.engines()[entry.engine].pledge(entry.pledge);
    if (pledge.produced >= pledge.footprint.max_output) return finish();
    step(domain::TokensProduced{ref, units::Tokens(1)});
  }
  void finish() {
    const std::size_t index = prng_.below(running_.size());
    const domain::AttemptRef ref = running_[index];
    running_[index] = running_.back();
    running_.pop_back();
    step(domain::Finished{ref,
                          domain::Outcome::kCompleted,
                          {units::Tokens(100), units::Tokens(0), units::Tokens(100)}});
  }
  bool full() const { return pool_.waiting_room().waiting() >= scale_.queued; }
  std::vector<std::int64_t>& samples() { return samples_; }

 private:
  void step(const domain::Event& event) {
    now_ = now_ + units::microseconds(20);
    const auto before = std::chrono::steady_clock::now();
    const auto decisions = pool_.step(event, now_);
    const auto after = std::chrono::steady_clock::now();
    samples_.push_back((after - before).count());
    for (const domain::Decision& decision : decisions) {
      if (const auto* assign = std::get_if<domain::Assign>(&decision)) {
        running_.push_back(assign->ref);
      }
    }
  }

  Scale scale_;
  PoolScheduler pool_;
  units::Prng prng_;
  units::Instant now_;
  std::uint64_t ids_ = 0;
  std::uint64_t next_ = 0;
  std::vector<domain::AttemptRef> running_;
  std::vector<std::int64_t> samples_;
};

void report(benchmark::State& state, std::vector<std::int64_t>& samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](std::size_t percent) {
    return static_cast<double>(samples[(samples.size() - 1) * percent / 100]);
  };
  state.counters["p50_ns"] = at(50);
  state.counters["p99_ns"] = at(99);
  state.counters["max_ns"] = at(100);
}

// One arrival and one end in turn: the queue keeps its length.
void arrive_and_finish(benchmark::State& state, const Scale& scale) {
  World world(scale);
  std::vector<std::int64_t> arrivals;
  std::vector<std::int64_t> ends;
  for (auto _ : state) {
    world.samples().clear();
    world.arrive();
    arrivals.insert(arrivals.end(), world.samples().begin(), world.samples().end());
    world.samples().clear();
    while (world.full()) world.finish();
    ends.insert(ends.end(), world.samples().begin(), world.samples().end());
  }
  std::sort(arrivals.begin(), arrivals.end());
  std::sort(ends.begin(), ends.end());
  state.counters["arrive_p50_ns"] = static_cast<double>(arrivals[arrivals.size() / 2]);
  state.counters["arrive_p99_ns"] = static_cast<double>(arrivals[arrivals.size() * 99 / 100]);
  if (!ends.empty()) {
    state.counters["finish_p50_ns"] = static_cast<double>(ends[ends.size() / 2]);
    state.counters["finish_p99_ns"] = static_cast<double>(ends[ends.size() * 99 / 100]);
  }
  arrivals.insert(arrivals.end(), ends.begin(), ends.end());
  report(state, arrivals);
}
BENCHMARK_CAPTURE(arrive_and_finish, 64_engines, kRack)->Iterations(20'000);
BENCHMARK_CAPTURE(arrive_and_finish, 1024_engines, kHall)->Iterations(20'000);

// What a serving pool does: twenty token events for each arrival and each end.
void serving_mix(benchmark::State& state, const Scale& scale) {
  World world(scale);
  world.samples().clear();
  for (auto _ : state) {
    world.arrive();
    for (int i = 0; i < 20; ++i) world.produce();
    while (world.full()) world.finish();
  }
  report(state, world.samples());
}
BENCHMARK_CAPTURE(serving_mix, 64_engines, kRack)->Iterations(5'000);
BENCHMARK_CAPTURE(serving_mix, 1024_engines, kHall)->Iterations(5'000);

}  // namespace
}  // namespace tidegate::pool
