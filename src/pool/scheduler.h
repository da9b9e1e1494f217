// The pool tier as its shells see it: events in, decisions out, and what gauges, the admin API and
// the oracle may look at. PoolScheduler is the house's own; those of other projects are in
// baselines/. A pure state machine in every case: no clock, no random device, one owner.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "domain/decision.h"
#include "domain/event.h"
#include "pool/admission/limits.h"
#include "pool/config.h"
#include "pool/placement/engine_view.h"

namespace tidegate::pool {

// What the pool saw and did beyond its decisions. All only grow.
struct Counters {
  std::int64_t arrived = 0;
  std::int64_t ended = 0;
  std::int64_t dropped_events = 0;   // late, duplicate, or of an unknown try or life (S5)
  std::int64_t protocol_errors = 0;  // an engine said what cannot be
  std::int64_t shadow_failures = 0;  // dispatches that only an unmeasured law would have held
  std::int64_t retries = 0;          // second tries after a failed first
  std::int64_t bypasses = 0;
};

// One request that has not ended, for tests and the oracle.
struct LiveView {
  units::RequestId id;
  bool on_engine = false;
  domain::AttemptRef ref;  // its last try, when there was one
};

// Whether a pool that is full of work can go on with `next` in place of `current`: the models and
// limits are the same, every weight is positive, and every tenant of before is there at its old
// position.
bool can_follow(const PoolConfig& current, const PoolConfig& next);

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // What follows from `event` at `now`, in the order in which it is to be done. Valid until the
  // next call. REQUIRES: now never goes back.
  virtual std::span<const domain::Decision> step(const domain::Event& event,
                                                 units::Instant now) = 0;

  // Other classes and tenants from now on: what is inside keeps its promise and its place, limits
  // and weights hold for what comes. False, and nothing changed, unless can_follow(). Decides
  // nothing by itself; who may run now is released by the next step.
  virtual bool reconfigure(const PoolConfig& config) = 0;

  virtual const PoolConfig& config() const = 0;
  virtual const std::vector<EngineView>& engines() const = 0;
  virtual const Counters& counters() const = 0;
  // Nothing for an unknown tenant.
  virtual std::optional<TenantHolds> holds(units::TenantId tenant) const = 0;
  // Every live request. Allocates.
  virtual std::vector<LiveView> live_requests() const = 0;
  virtual units::Instant now() const = 0;
  // Live requests that are on no engine.
  virtual std::int64_t waiting() const = 0;
  // The widest difference in service, in engine time by weight, between tenants that wait for the
  // same model. Nothing where no account of it is kept.
  virtual std::optional<units::Nanos> service_gap() const = 0;
};

using SchedulerFactory = std::function<std::unique_ptr<Scheduler>(const PoolConfig& config)>;

}  // namespace tidegate::pool
