#include "published_setup.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "baselines/registry.h"

namespace tidegate::bench {

using units::Instant;
using units::Tokens;

namespace {

constexpr std::int64_t kNanosecond = 1'000'000;  // femtoseconds
constexpr int kTurnSeconds = 900;

// Their law in our form (docs/fidelity.md says what differs).
domain::StepCoefficients published_law() {
  domain::StepCoefficients law;
  law.base_fs = 14'936'000 * kNanosecond;
  law.knees = {Tokens(512), Tokens(512)};
  law.per_token_fs = {81'300 * kNanosecond, 81'300 * kNanosecond, 95'800 * kNanosecond};
  law.per_decode_fs = 13'900 * kNanosecond;
  law.per_kv_token_fs = 111 * kNanosecond;
  law.per_attention_fs = 3 * kNanosecond / 2;
  return law;
}

std::int64_t step_tokens(const std::string& policy) {
  const bool chunked = policy == "sarathi" || policy == "edf";
  return chunked ? 256 : 4'096;
}

domain::Promise promise_of(const domain::ServiceClass& service_class, Instant arrival) {
  domain::Promise promise;
  if (service_class.deadline) promise.total_due = arrival + *service_class.deadline;
  if (service_class.ttft) promise.first_token_due = arrival + *service_class.ttft;
  if (service_class.tpot) promise.token_pace = *service_class.tpot;
  return promise;
}

}  // namespace

domain::ServiceClass service_class(std::uint64_t id, const char* name) {
  domain::ServiceClass each;
  each.id = units::ClassId(id);
  each.name = name;
  return each;
}

sim::World published_world(const std::string& policy_name,
                           std::vector<domain::ServiceClass> classes) {
  const auto policy = baselines::policy(policy_name);
  sim::World world;
  world.deciders = {policy->engine, policy->pool, policy->own_batching};
  world.pool.classes = std::move(classes);
  world.pool.tenants = {domain::Tenant{}};
  world.pool.models = {units::ModelId(0)};
  world.pool.limits.max_requests = world.pool.limits.max_queued = 20'000;
  sim::EngineModel engine;
  engine.gpu = "A100";
  engine.true_law = published_law();
  engine.batch.max_waiting = 20'000;
  engine.batch.spec.law = engine.true_law;
  engine.batch.spec.calibrated = true;
  // 80 GB, nine tenths of it, less 16 GB of weights, at 128 KiB a token.
  engine.batch.spec.limits = {units::Blocks(27'000), 256, Tokens(step_tokens(policy_name)),
                              Tokens(16'384)};
  world.engines = {engine};
  world.physics.telemetry_period = units::seconds(1);  // there is nothing to choose between
  world.physics.step_noise = units::Ppm(20'000);
  return world;
}

PoissonArrivals::PoissonArrivals(const workload::Trace& trace, const Load& load,
                                 std::vector<domain::ServiceClass> classes, std::uint64_t seed)
    : trace_(&trace), load_(load), classes_(std::move(classes)), prng_(seed) {}

// An exponential gap at the present rate, from the beginning of a turn on where it would pass it.
bool PoissonArrivals::advance() {
  while (now_s_ < load_.seconds) {
    const int turn = static_cast<int>(now_s_) / kTurnSeconds;
    const double rate = turn % 2 == 0 ? load_.rate : load_.other_rate;
    const double uniform = (static_cast<double>(prng_.below(1'000'000'000)) + 0.5) / 1e9;
    const double at = now_s_ - std::log(uniform) / rate;
    const double end = (turn + 1) * static_cast<double>(kTurnSeconds);
    now_s_ = std::min(at, end);
    if (at < end) return now_s_ < load_.seconds;
  }
  return false;
}

std::optional<sim::WorldRequest> PoissonArrivals::next() {
  if (!advance()) return std::nullopt;
  const workload::TraceRow& row = trace_->rows[prng_.below(trace_->rows.size())];
  const domain::ServiceClass& service_class = classes_[prng_.below(classes_.size())];
  sim::WorldRequest request;
  request.request.id = units::RequestId(next_id_++);
  request.request.service_class = service_class.id;
  request.request.arrival = Instant(std::llround(now_s_ * 1e9));
  request.request.promise = promise_of(service_class, request.request.arrival);
  request.request.footprint.prompt = row.input;
  request.request.footprint.max_output = std::max(Tokens(2'048), row.output);
  request.output = row.output;
  return request;
}

}  // namespace tidegate::bench
