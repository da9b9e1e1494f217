// A pool with a few verbs: what arrives, what engines say, and what the pool answered. Engines are
// values here; the test plays their part.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cost/length_forecast.h"
#include "pool/pool_scheduler.h"

namespace tidegate::pool::testing {

inline units::Nanos ms(std::int64_t n) {
  return units::milliseconds(n);
}

// A step of 1 ms, and `per_prefill_us` for each prompt token; decodes and their context are free.
inline domain::EngineSpec engine_spec(std::uint64_t id, std::int64_t per_prefill_us = 100) {
  domain::EngineSpec spec;
  spec.id = units::EngineId(id);
  spec.epoch = units::Epoch(1);
  spec.model = units::ModelId(0);
  spec.limits = {units::Blocks(1'000), 8, units::Tokens(4'096), units::Tokens(8'000)};
  spec.law.base_fs = 1'000'000'000'000;
  spec.law.per_token_fs.fill(per_prefill_us * 1'000'000'000);
  spec.law.per_decode_fs = 0;
  spec.calibrated = true;
  return spec;
}

inline domain::Tenant tenant(std::uint64_t id,
                             domain::OnOverload on_overload = domain::OnOverload::kReject) {
  domain::Tenant t;
  t.id = units::TenantId(id);
  t.name = "t" + std::to_string(id);
  t.on_overload = on_overload;
  return t;
}

inline PoolConfig config(std::vector<domain::Tenant> tenants) {
  PoolConfig c;
  c.tenants = std::move(tenants);
  c.models = {units::ModelId(0)};
  c.limits = {.max_requests = 1'000, .max_queued = 500, .max_engines = 8};
  return c;
}

inline domain::Request request(std::uint64_t id, std::int64_t prompt, std::int64_t output) {
  domain::Request r;
  r.id = units::RequestId(id);
  r.footprint.prompt = units::Tokens(prompt);
  r.footprint.max_output = units::Tokens(output);
  r.footprint.output = cost::certain(units::Tokens(output));
  return r;
}

class PoolEnv {
 public:
  explicit PoolEnv(const PoolConfig& c) : pool(c) {}

  const std::vector<domain::Decision>& step(const domain::Event& event) {
    const auto decided = pool.step(event, now);
    last.assign(decided.begin(), decided.end());
    all.insert(all.end(), last.begin(), last.end());
    return last;
  }
  void join(const domain::EngineSpec& spec) { step(domain::EngineJoined{spec}); }
  // Arrives now, due `ttft` from now; a zero ttft means best effort.
  void arrive(domain::Request r, units::Nanos ttft, units::Nanos pace = units::Nanos(0)) {
    r.arrival = now;
    if (ttft > units::Nanos(0)) r.promise = {now + ttft, pace, units::Instant::never()};
    step(domain::Arrived{r});
  }
  void tick(units::Nanos forward) {
    now = now + forward;
    step(domain::Tick{});
  }
  // The engine says that the live try of `id` has done all it was to do.
  void finish(std::uint64_t id, std::int64_t output) {
    const domain::AttemptRef ref = assigned(id)->ref;
    step(domain::Finished{ref,
                          domain::Outcome::kCompleted,
                          {.prompt = assigned(id)->request.footprint.prompt,
                           .cached_prompt = units::Tokens(0),
                           .output = units::Tokens(output)}});
  }
  void produce(std::uint64_t id, std::int64_t count) {
    step(domain::TokensProduced{assigned(id)->ref, units::Tokens(count)});
  }

  // The last Assign of a request, null when there was none.
  const domain::Assign* assigned(std::uint64_t id) const {
    const domain::Assign* found = nullptr;
    for (const domain::Decision& d : all) {
      const auto* assign = std::get_if<domain::Assign>(&d);
      if (assign != nullptr && assign->ref.request == units::RequestId(id)) found = assign;
    }
    return found;
  }
  // Its End, null while it lives. Fails when there are two.
  const domain::End* ended(std::uint64_t id) const {
    const domain::End* found = nullptr;
    for (const domain::Decision& d : all) {
      const auto* end = std::get_if<domain::End>(&d);
      if (end == nullptr || end->request != units::RequestId(id)) continue;
      if (found != nullptr) return nullptr;
      found = end;
    }
    return found;
  }
  template <class T>
  std::vector<std::uint64_t> ids_of() const {
    std::vector<std::uint64_t> ids;
    for (const domain::Decision& d : all) {
      if constexpr (std::is_same_v<T, domain::Assign>) {
        if (const auto* a = std::get_if<T>(&d)) ids.push_back(a->ref.request.value());
      } else {
        if (const auto* a = std::get_if<T>(&d)) ids.push_back(a->request.value());
      }
    }
    return ids;
  }

  PoolScheduler pool;
  units::Instant now;
  std::vector<domain::Decision> last;
  std::vector<domain::Decision> all;
};

}  // namespace tidegate::pool::testing
