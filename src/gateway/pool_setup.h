// Between the configuration and the pool tier. Pure functions.
#pragma once

#include <memory>

#include "config/server_config.h"
#include "gateway/rate_view.h"
#include "pool/scheduler.h"

namespace tidegate::gateway {

pool::PoolConfig pool_config(const config::ServerConfig& config);

// The pool tier of the configured policy. REQUIRES: the policy exists.
std::unique_ptr<pool::Scheduler> make_scheduler(const config::ServerConfig& config);

// A tenant's limits and what is left of them now.
RateView rate_view(const pool::Scheduler& scheduler, const domain::Tenant& tenant);

// The built-in classes with their times loosened to what this engine can do: a prompt of 1,024
// tokens (or half the context) alone on the engine within half of the time to first token, and a
// step with all sequences decoding, each behind 1,024 tokens or its part of the memory, within half
// of the token pace.
std::vector<domain::ServiceClass> loosened(std::vector<domain::ServiceClass> classes,
                                           const domain::EngineSpec& engine);

}  // namespace tidegate::gateway
