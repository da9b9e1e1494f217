// The pool tier as the routers of other projects build it: every request that may come in goes to
// an engine at once, by a placement rule, and waits there; a rule with a gate lets it wait here, in
// order of arrival. There is no admission by promise, no order by deadline and no shedding of what
// is late: that is the difference to PoolScheduler that a comparison is about. The doors that have
// nothing to do with scheduling are the same: ids, sizes, tenant limits, one end for each request.
//
// What was left out: a tenant at its in-flight limit is refused rather than held, as LiteLLM does
// (max_parallel_requests); a try that fails before its first token is tried once more on another
// engine, as a proxy in front would. Deadlines cut nothing.
//
// Pure; one owner; allocates as it goes. O(engines) for each arrival, beside the rule.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "baselines/pool/router.h"
#include "pool/placement/choose.h"
#include "pool/scheduler.h"
#include "units/prng.h"

namespace tidegate::baselines {

class RoutingPool final : public pool::Scheduler {
 public:
  RoutingPool(const pool::PoolConfig& config, std::unique_ptr<Router> router);

  std::span<const domain::Decision> step(const domain::Event& event, units::Instant now) override;

  // O(tenants).
  bool reconfigure(const pool::PoolConfig& config) override;

  const pool::PoolConfig& config() const override { return config_; }
  const std::vector<pool::EngineView>& engines() const override { return engines_; }
  const pool::Counters& counters() const override { return counters_; }
  std::optional<pool::TenantHolds> holds(units::TenantId tenant) const override;
  std::vector<pool::LiveView> live_requests() const override;
  units::Instant now() const override { return now_; }
  std::int64_t waiting() const override;
  std::optional<units::Nanos> service_gap() const override { return std::nullopt; }

 private:
  struct Live {
    domain::Request request;
    std::size_t tenant = 0;
    pool::Reservation reservation;
    bool admitted = false;
    std::optional<EngineIndex> engine;  // nothing: it waits here
    std::optional<EngineIndex> avoid;   // its first try failed there
    domain::AttemptRef ref;
    pool::PledgeIndex pledge = 0;
    units::Tokens produced{0};
    units::Tokens expected{0};  // prompt and output
  };
  struct Refusal {
    domain::Outcome outcome = domain::Outcome::kRejectedCapacity;
    domain::Reason reason = domain::Reason::kNone;
    domain::Resource full = domain::Resource::kNone;
  };

  void on(const domain::Arrived& event);
  void on(const domain::CallerLeft& event);
  void on(const domain::EngineJoined& event);
  void on(const domain::EngineDraining& event);
  void on(const domain::EngineLost& event);
  void on(const domain::Accepted& event);
  void on(const domain::TokensProduced& event);
  void on(const domain::Finished& event);
  void on(const domain::Failed& event);
  void on(const domain::StateReport& event);
  void on(const domain::Tick& event);
  void on(const domain::DrainRequested& event);

  std::optional<Refusal> refusal_at_the_door(const domain::Request& request) const;
  std::optional<Refusal> cannot_run(const domain::Request& request) const;
  void refuse(units::RequestId id, const Refusal& refusal);
  // Sends the request if the rule has an engine for it.
  bool dispatch(Live& live);
  void hold(const Live& live);
  // Those who wait for this model, each lane in order of arrival as long as the rule takes its
  // first.
  void release(units::ModelId model);
  void release_all();
  std::deque<units::RequestId>& queue_of(const domain::Request& request);
  void end_hopeless();

  std::optional<std::size_t> tenant_index(units::TenantId id) const;
  std::optional<EngineIndex> engine_of(units::EngineId id, units::Epoch epoch) const;
  std::vector<Target> targets(const Live& live) const;
  // The request whose live try this is; null, and counted, for a stale or unknown one.
  Live* running(const domain::AttemptRef& ref);
  bool release_ghost(const domain::AttemptRef& ref);
  // The try is over; the request is on no engine any more.
  void leave_engine(Live& live);
  void abort(Live& live);
  void lose_all(EngineIndex engine);
  void try_failed(Live& live, domain::Reason reason);
  domain::Usage usage(const Live& live) const;
  // The one end of every request that came in.
  void finish(units::RequestId id, const Refusal& end, const domain::Usage& usage);

  pool::PoolConfig config_;
  std::unique_ptr<Router> router_;
  std::vector<pool::TenantAccount> accounts_;
  std::vector<pool::EngineView> engines_;
  std::vector<domain::StateReport> reports_;  // by engine
  std::vector<Target> loads_;                 // by engine: the counts of what is in flight
  std::map<units::RequestId, Live> live_;
  using Lane = std::pair<units::ModelId, std::uint64_t>;
  std::map<Lane, std::deque<units::RequestId>> waiting_;  // by arrival
  pool::Counters counters_;
  std::vector<domain::Decision> decisions_;
  units::Instant now_;
  bool draining_ = false;
};

}  // namespace tidegate::baselines
