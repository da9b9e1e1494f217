#include "draw.h"

#include <algorithm>
#include <array>
#include <memory>

namespace tidegate::swarm {

using units::Blocks;
using units::Instant;
using units::milliseconds;
using units::Nanos;
using units::Ppm;
using units::Prng;
using units::Tokens;

namespace {

// Nothing in half of the runs, else up to `most` percent.
Ppm draw_trouble(Prng& prng, std::int64_t most_percent) {
  if (prng.below(2) == 0) return Ppm(0);
  return Ppm(prng.between(1, most_percent) * 10'000);
}

// Usually in [low, high], sometimes exactly low.
std::int64_t draw_limit(Prng& prng, std::int64_t low, std::int64_t high) {
  return prng.below(6) == 0 ? low : prng.between(low, high);
}

std::optional<std::int64_t> draw_optional(Prng& prng, std::int64_t low, std::int64_t high) {
  if (prng.below(3) != 0) return std::nullopt;
  return draw_limit(prng, low, high);
}

domain::Tenant draw_tenant(Prng& prng, units::TenantId id) {
  domain::Tenant tenant;
  tenant.id = id;
  tenant.weight = prng.between(1, 10);
  tenant.on_overload = static_cast<domain::OnOverload>(prng.below(3));
  tenant.limits.requests_per_min = draw_optional(prng, 1, 60);
  if (const auto tokens = draw_optional(prng, 50, 5'000)) {
    tenant.limits.tokens_per_min = Tokens(*tokens);
  }
  tenant.limits.in_flight = draw_optional(prng, 1, 8);
  tenant.limits.queued = draw_optional(prng, 1, 8);
  if (prng.below(3) == 0) {
    tenant.guarantee =
        domain::Guarantee{Tokens(prng.between(10, 1'000)), Tokens(prng.between(0, 1'000)),
                          Tokens(prng.between(1, 100)), Tokens(prng.between(1, 50))};
  }
  return tenant;
}

domain::Promise draw_promise(Prng& prng) {
  domain::Promise promise;
  const std::uint64_t kind = prng.below(4);
  if (kind == 0) return promise;
  if (kind == 1) {
    promise.total_due = Instant(0) + milliseconds(prng.between(20, 6'000));
    return promise;
  }
  promise.first_token_due = Instant(0) + milliseconds(prng.between(5, 2'000));
  if (kind == 2) promise.token_pace = milliseconds(prng.between(1, 200));
  return promise;
}

// One of a few conversations, so that prompts share beginnings of random length.
domain::PrefixChain draw_prefix(Prng& prng, std::int64_t blocks) {
  if (blocks == 0 || prng.below(3) == 0) return nullptr;
  std::vector<std::uint64_t> chain;
  const std::uint64_t conversation = prng.below(3);
  const std::int64_t common = prng.between(0, blocks);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::uint64_t own = i < common ? conversation : prng.next();
    chain.push_back((i == 0 ? 1 : chain.back()) * 0x9E3779B97F4A7C15ULL + own);
  }
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(chain));
}

}  // namespace

Knobs draw_knobs(Prng& prng) {
  Knobs knobs;
  knobs.engines = draw_limit(prng, 1, 4);
  knobs.models = draw_limit(prng, 1, 2);
  knobs.tenants = draw_limit(prng, 1, 4);
  constexpr std::array<std::int64_t, 3> kBlockTokens = {1, 4, 16};
  for (auto& tokens : knobs.block_tokens) tokens = Tokens(kBlockTokens[prng.below(3)]);
  knobs.arrivals = prng.between(2, 14);
  knobs.gap_max = milliseconds(prng.below(3) == 0 ? 1 : prng.between(1, 200));
  knobs.cancel = draw_trouble(prng, 50);
  knobs.crash = draw_trouble(prng, 20);
  knobs.drain = draw_trouble(prng, 10);
  knobs.silent = draw_trouble(prng, 100);
  knobs.rogue = draw_trouble(prng, 3);
  knobs.duplicate = draw_trouble(prng, 10);
  knobs.step_fault = draw_trouble(prng, 20);
  knobs.noise = draw_trouble(prng, 50);
  knobs.delay_max = prng.below(2) == 0 ? Nanos(0) : milliseconds(prng.between(1, 100));
  knobs.wrong_law = prng.below(3) == 0;
  knobs.pool_drains = prng.below(8) == 0;
  return knobs;
}

pool::PoolConfig draw_pool(Prng& prng, const Knobs& knobs) {
  pool::PoolConfig config;
  for (std::int64_t i = 0; i < knobs.tenants; ++i) {
    config.tenants.push_back(draw_tenant(prng, units::TenantId(static_cast<std::uint64_t>(i))));
  }
  for (std::int64_t i = 0; i < knobs.models; ++i) {
    config.models.emplace_back(static_cast<std::uint64_t>(i));
  }
  config.classes.emplace_back();
  config.limits = {draw_limit(prng, 2, 24), draw_limit(prng, 1, 20), 8};
  config.policy.max_bypass = draw_limit(prng, 1, 8);
  config.policy.scan_depth = draw_limit(prng, 1, 8);
  config.policy.no_engine_grace = milliseconds(prng.between(1, 3'000));
  config.policy.deadline_grace = milliseconds(prng.between(0, 500));
  config.policy.share_slack = milliseconds(prng.between(0, 50));
  config.policy.queue_target = units::Ppm(prng.below(3) == 0 ? 0 : prng.between(1, 500'000));
  config.seed = prng.next();
  return config;
}

domain::EngineSpec draw_engine(Prng& prng, const Knobs& knobs, units::EngineId id) {
  domain::EngineSpec spec;
  spec.id = id;
  spec.epoch = units::Epoch(1);
  spec.model = units::ModelId(id.value() % static_cast<std::uint64_t>(knobs.models));
  spec.kv = {knobs.block_tokens[spec.model.value()], Blocks(prng.below(4) == 0 ? 1 : 0)};
  spec.limits.kv_blocks = Blocks(prng.between(8, 120));
  spec.limits.max_sequences = draw_limit(prng, 1, 8);
  spec.limits.max_step_tokens = Tokens(draw_limit(prng, 1, 100));
  spec.limits.max_context = Tokens(prng.between(20, 400));
  spec.law.base_fs = prng.between(1, 20) * 1'000'000'000'000;
  spec.law.knees = {Tokens(prng.between(0, 40)), Tokens(prng.between(40, 80))};
  for (auto& slope : spec.law.per_token_fs) slope = prng.between(0, 500) * 1'000'000'000;
  std::ranges::sort(spec.law.per_token_fs);
  spec.law.prefill_fs = prng.between(0, 2) * 1'000'000'000'000;
  spec.law.per_decode_fs = prng.between(0, 100) * 1'000'000'000;
  spec.law.per_kv_token_fs = prng.between(0, 1'000'000'000);
  spec.calibrated = prng.below(4) != 0;
  spec.own_batching = prng.below(4) != 0;
  return spec;
}

batch::BatchConfig draw_batch(Prng& prng, const domain::EngineSpec& spec) {
  batch::BatchConfig config;
  config.spec = spec;
  config.retained_slots = draw_limit(prng, 0, 4);
  config.max_waiting = draw_limit(prng, 1, 16);
  config.kv_watermark = Ppm(prng.between(0, 100'000));
  config.forecast_refresh = draw_limit(prng, 1, 50);
  config.max_bypasses = draw_limit(prng, 1, 16);
  config.max_admissions = draw_limit(prng, 1, 8);
  config.max_sharing_wait = draw_limit(prng, 1, 64);
  config.believed_recovery = draw_limit(prng, 1, 64);
  config.chunk_tile = Tokens(draw_limit(prng, 1, 16));
  config.min_chunk = Tokens(draw_limit(prng, 1, 16));
  config.least_rest = Tokens(prng.between(1, config.chunk_tile.value()));
  config.max_partial_prefills = draw_limit(prng, 1, 4);
  config.drip_interval = draw_limit(prng, 1, 32);
  config.max_preemptions = draw_limit(prng, 1, 3);
  config.preemption_cooldown = draw_limit(prng, 1, 32);
  return config;
}

domain::Request draw_request(Prng& prng, const Knobs& knobs, const pool::PoolConfig& config) {
  domain::Request request;
  request.tenant = config.tenants[prng.below(config.tenants.size())].id;
  request.model = config.models[prng.below(config.models.size())];
  request.promise = draw_promise(prng);
  domain::Footprint& size = request.footprint;
  const bool cold = prng.below(6) == 0;
  size.prompt = Tokens(cold ? prng.between(1, 450) : prng.between(1, 40));
  size.max_output = Tokens(cold ? prng.between(1, 60) : prng.between(1, 16));
  for (auto& length : size.output.lengths)
    length = Tokens(prng.between(1, size.max_output.value()));
  std::ranges::sort(size.output.lengths);
  request.prefix = draw_prefix(prng, size.prompt / knobs.block_tokens[request.model.value()]);
  request.caller_retries = static_cast<std::uint8_t>(prng.below(5) == 0 ? 1 : 0);
  return request;
}

}  // namespace tidegate::swarm
