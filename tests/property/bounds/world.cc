#include "world.h"

#include <algorithm>
#include <memory>

#include "units/prng.h"

namespace tidegate::bounds_world {
namespace {

using units::Instant;
using units::Nanos;
using units::Prng;
using units::Tokens;

constexpr std::int64_t kMicro = 1'000'000'000;  // femtoseconds
constexpr std::int64_t kNano = 1'000'000;

domain::StepCoefficients random_law(Prng& prng) {
  domain::StepCoefficients law;
  law.base_fs = prng.between(500, 20'000) * kMicro;
  law.knees = {Tokens(prng.between(1, 64)), Tokens(prng.between(64, 256))};
  for (auto& slope : law.per_token_fs) slope = prng.between(0, 60) * kMicro;
  law.prefill_fs = prng.between(0, 500) * kMicro;
  law.per_decode_fs = prng.between(0, 30) * kMicro;
  law.per_kv_token_fs = prng.between(0, 100) * kNano;
  law.per_attention_fs = prng.between(0, 20) * kNano;
  if (prng.between(0, 1) == 0) return law;
  law.row_tile = prng.between(1, 8);
  law.tile_fs = prng.between(0, 300) * kMicro;
  law.stray_fs = prng.between(0, 100) * kMicro;
  return law;
}

sim::EngineModel random_engine(Prng& prng, std::uint64_t id, std::uint64_t model) {
  sim::EngineModel engine;
  engine.gpu = "gpu";
  engine.true_law = random_law(prng);
  domain::EngineSpec& spec = engine.batch.spec;
  spec.id = units::EngineId(id);
  spec.model = units::ModelId(model);
  const std::int64_t blocks = prng.between(40, 600);
  spec.limits = {units::Blocks(blocks), prng.between(1, 24), Tokens(prng.between(16, 512)),
                 Tokens(std::min<std::int64_t>(2'048, blocks * 16))};
  spec.law = engine.true_law;
  spec.calibrated = true;
  engine.batch.retained_slots = prng.between(0, 8);
  return engine;
}

std::vector<domain::ServiceClass> random_classes(Prng& prng) {
  domain::ServiceClass chat;
  chat.name = "chat";
  chat.ttft = units::milliseconds(prng.between(20, 2'000));
  chat.tpot = units::milliseconds(prng.between(5, 60));
  domain::ServiceClass nightly;
  nightly.id = units::ClassId(1);
  nightly.name = "nightly";
  nightly.deadline = units::milliseconds(prng.between(100, 5'000));
  domain::ServiceClass batch;
  batch.id = units::ClassId(2);
  batch.name = "batch";
  batch.best_effort = true;
  return {chat, nightly, batch};
}

domain::Promise promise_of(const domain::ServiceClass& each, Instant arrival) {
  domain::Promise promise;
  if (each.ttft) promise.first_token_due = arrival + *each.ttft;
  if (each.tpot) promise.token_pace = *each.tpot;
  if (each.deadline) promise.total_due = arrival + *each.deadline;
  return promise;
}

// Turns of one session begin alike; sessions of one tenant begin with the same block.
domain::PrefixChain random_chain(Prng& prng, std::int64_t blocks) {
  if (blocks == 0 || prng.between(0, 1) == 0) return nullptr;
  const auto session = static_cast<std::uint64_t>(prng.between(1, 6));
  std::vector<std::uint64_t> chain{1};
  while (static_cast<std::int64_t>(chain.size()) < blocks) {
    chain.push_back(session * 1'000 + chain.size());
  }
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(chain));
}

// What stays the same for all requests of a world.
struct Habits {
  std::vector<domain::ServiceClass> classes;
  std::int64_t models = 1;
  std::int64_t longest_prompt = 1;
  std::int64_t longest_output = 1;
};

sim::WorldRequest random_request(Prng& prng, const Habits& habits, Instant at) {
  sim::WorldRequest next;
  domain::Request& request = next.request;
  request.arrival = at;
  request.model = units::ModelId(static_cast<std::uint64_t>(prng.between(0, habits.models - 1)));
  const auto index = static_cast<std::size_t>(prng.between(0, 3)) % habits.classes.size();
  request.service_class = habits.classes[index].id;
  request.tenant = units::TenantId(static_cast<std::uint64_t>(prng.between(0, 1)));
  request.promise = promise_of(habits.classes[index], at);
  request.footprint.prompt = Tokens(prng.between(1, habits.longest_prompt));
  request.prefix = random_chain(prng, request.footprint.prompt / Tokens(16));
  next.output = Tokens(prng.between(1, habits.longest_output));
  request.footprint.max_output = next.output + Tokens(prng.between(0, 64));
  if (prng.between(0, 15) == 0) next.leaves = at + units::milliseconds(prng.between(1, 2'000));
  return next;
}

}  // namespace

sim::Arrivals RandomWorld::arrivals() const {
  return [list = requests, index = std::size_t{0}]() mutable -> std::optional<sim::WorldRequest> {
    if (index == list.size()) return std::nullopt;
    return list[index++];
  };
}

std::vector<std::string> RandomWorld::model_names() const {
  std::vector<std::string> names;
  for (const units::ModelId model : world.pool.models) {
    names.push_back("m" + std::to_string(model.value()));
  }
  return names;
}

RandomWorld random_world(std::uint64_t seed) {
  Prng prng(seed);
  RandomWorld made;
  Habits habits{random_classes(prng), prng.between(1, 2), prng.between(4, 600),
                prng.between(1, 80)};
  sim::World& world = made.world;
  world.seed = seed;
  world.pool.seed = seed;
  world.pool.classes = habits.classes;
  world.pool.tenants.resize(2);
  world.pool.tenants[1].id = units::TenantId(1);
  world.pool.tenants[1].on_overload = domain::OnOverload::kQueue;
  for (std::int64_t model = 0; model < habits.models; ++model) {
    world.pool.models.emplace_back(static_cast<std::uint64_t>(model));
  }
  const auto engines = static_cast<std::uint64_t>(prng.between(habits.models, 3));
  const auto models = static_cast<std::uint64_t>(habits.models);
  for (std::uint64_t i = 0; i < engines; ++i) {
    world.engines.push_back(random_engine(prng, i, i % models));
  }
  world.physics.step_noise = units::Ppm(prng.between(0, 1) * prng.between(0, 100'000));
  world.physics.dispatch_lag = Nanos(prng.between(0, 1'000'000));
  world.horizon = units::milliseconds(prng.between(1'000, 6'000));
  world.warmup = world.horizon * prng.between(0, 1) / 4;
  const std::int64_t widest_gap = prng.between(1, 60) * 1'000'000;
  Instant at;
  while (true) {
    at = at + Nanos(prng.between(0, widest_gap));
    if (at > Instant(0) + world.horizon) break;
    made.requests.push_back(random_request(prng, habits, at));
    made.requests.back().request.id = units::RequestId(made.requests.size());
  }
  return made;
}

}  // namespace tidegate::bounds_world
