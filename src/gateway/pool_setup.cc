#include "gateway/pool_setup.h"

#include <algorithm>

#include "baselines/registry.h"
#include "cost/step_law.h"
#include "pool/pool_scheduler.h"
#include "units/check.h"

namespace tidegate::gateway {
namespace {

// What built-in classes are loosened for; memory has room for longer ones than most are.
constexpr units::Tokens kLongPrompt{1'024};

// Of a limit of so many a minute that refills evenly.
RateLine line(std::int64_t limit, std::int64_t remaining) {
  const std::int64_t left = std::clamp<std::int64_t>(remaining, 0, limit);
  return {limit, left, units::seconds(60) * (limit - left) / limit};
}

// A prompt of so many tokens, alone on the engine, in steps as large as it takes.
units::Nanos prefill_alone(const domain::EngineSpec& engine, units::Tokens prompt) {
  const cost::StepLaw law(engine.law);
  units::Nanos total;
  for (units::Tokens done; done < prompt;) {
    const units::Tokens chunk = std::min(engine.limits.max_step_tokens, prompt - done);
    cost::StepShape shape;
    shape.add_chunk(done, chunk);
    total += law.guarded(shape);
    done += chunk;
  }
  return total;
}

units::Nanos full_step(const domain::EngineSpec& engine) {
  const units::Tokens cells = engine.kv.block_tokens * engine.limits.kv_blocks.value();
  const std::int64_t sequences = std::max<std::int64_t>(engine.limits.max_sequences, 1);
  cost::StepShape shape;
  const units::Tokens each = std::min(cells / sequences, kLongPrompt);
  for (std::int64_t i = 0; i < sequences; ++i) shape.add_decode(each);
  return cost::StepLaw(engine.law).guarded(shape);
}

}  // namespace

pool::PoolConfig pool_config(const config::ServerConfig& config) {
  pool::PoolConfig pool;
  pool.classes = config.classes;
  for (const config::TenantConfig& tenant : config.tenants) pool.tenants.push_back(tenant.values);
  for (const config::ModelConfig& model : config.models) pool.models.push_back(model.id);
  pool.limits.max_requests = config.server.limits.requests * config.server.limits.choices;
  pool.limits.max_queued = config.server.limits.requests;
  return pool;
}

std::unique_ptr<pool::Scheduler> make_scheduler(const config::ServerConfig& config) {
  const auto policy = baselines::policy(config.server.policy.name);
  TIDEGATE_CHECK(policy.has_value());
  const pool::PoolConfig pool = pool_config(config);
  if (policy->pool) return policy->pool(pool);
  return std::make_unique<pool::PoolScheduler>(pool);
}

RateView rate_view(const pool::Scheduler& scheduler, const domain::Tenant& tenant) {
  RateView view;
  const auto holds = scheduler.holds(tenant.id);
  if (!holds) return view;
  if (tenant.limits.requests_per_min && holds->requests_left) {
    view.requests = line(*tenant.limits.requests_per_min, *holds->requests_left);
  }
  if (tenant.limits.tokens_per_min && holds->tokens_left) {
    view.tokens = line(tenant.limits.tokens_per_min->value(), *holds->tokens_left);
  }
  return view;
}

std::vector<domain::ServiceClass> loosened(std::vector<domain::ServiceClass> classes,
                                           const domain::EngineSpec& engine) {
  const units::Tokens prompt = std::min(kLongPrompt, engine.limits.max_context / 2);
  const units::Nanos first = prefill_alone(engine, prompt) * 2;
  const units::Nanos pace = full_step(engine) * 2;
  for (domain::ServiceClass& each : classes) {
    if (each.ttft) each.ttft = std::max(*each.ttft, first);
    if (each.tpot) each.tpot = std::max(*each.tpot, pace);
  }
  return classes;
}

}  // namespace tidegate::gateway
