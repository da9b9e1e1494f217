// The oracle of the pool tier: hears every event and every decision, keeps a shadow of its own (who
// is alive, which try is live where, how many tokens were told), and says which invariants do not
// hold: S1, S3-S10, S12, and that nobody waits without a wake-up. It never asks the scheduler what
// the answer should be. Pure; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "domain/decision.h"
#include "domain/event.h"
#include "invariants/findings.h"
#include "invariants/pool_view.h"
#include "pool/config.h"

namespace tidegate::invariants {

class PoolOracle {
 public:
  explicit PoolOracle(const pool::PoolConfig& config);

  // One step: the event, what was decided, and the state after it. Empty when all is well.
  // REQUIRES: when the wake-up in force has come, the event is Tick (the pool serves its timers
  // first, and an oracle could not tell their decisions from those of another event).
  // O(live requests + engines) beside the view.
  Violations check_step(units::Instant now, const domain::Event& event,
                        std::span<const domain::Decision> decisions, const PoolView& view);

  std::size_t alive() const { return alive_.size(); }
  // The wake-up in force; never() when none was asked for.
  units::Instant wake_at() const { return wake_at_; }

 private:
  struct Alive {
    domain::Request request;
    bool admitted = false;
    std::optional<domain::AttemptRef> live{};  // the try whose events count
    std::optional<units::Attempt> last{};
    std::int64_t delivered = 0;                    // tokens told by the live try
    std::optional<domain::Outcome> must_end_as{};  // by the event of this step
    bool told = false;                             // the engine gave that outcome
    bool aborted = false;                          // in this step
  };
  // A try that was assigned and of which the engine may still hold something.
  struct Booked {
    domain::AttemptRef ref;
    domain::Tier tier = domain::Tier::kWithinShare;
    domain::Footprint footprint;
    std::int64_t delivered = 0;
    bool must_abort = false;
  };
  // What a tenant was given so far, counted low: only what no rule of settling could give back.
  struct Spent {
    std::int64_t requests = 0;
    std::int64_t tokens = 0;
  };
  struct Engine {
    domain::EngineSpec spec;
    bool up = true;
    bool draining = false;
    std::map<std::pair<units::RequestId, units::Attempt>, Booked> booked{};
  };

  void hear(const domain::Arrived& e);
  void hear(const domain::CallerLeft& e);
  void hear(const domain::EngineJoined& e);
  void hear(const domain::EngineDraining& e);
  void hear(const domain::EngineLost& e);
  void hear(const domain::Accepted& e);
  void hear(const domain::TokensProduced& e);
  void hear(const domain::Finished& e);
  void hear(const domain::Failed& e);
  void hear(const domain::StateReport& e);
  void hear(const domain::Tick& e);
  void hear(const domain::DrainRequested& e);
  void check(const domain::Admit& d);
  void check(const domain::Hold& d);
  void check(const domain::End& d);
  void check(const domain::Downgrade& d);
  void check(const domain::Assign& d);
  void check(const domain::Abort& d);
  void check(const domain::WakeAt& d);
  void check_ending(const domain::End& d, const Alive& alive);
  void check_placement(const domain::Assign& d);
  void check_memory(const domain::Assign& d, const Engine& engine);
  void check_expectations();
  void check_waiting(const Alive& alive);
  void check_wake();
  void check_requests(const PoolView& view);
  void check_engines(const PoolView& view);
  void check_engine(const BookedEngine& seen);
  void check_tenants(const PoolView& view);
  void check_tenant(const TenantView& seen);

  Alive* find(units::RequestId id, const char* what);
  // The request whose live try this is; null for a stale or unknown one.
  Alive* live(const domain::AttemptRef& ref);
  Engine* current(units::EngineId id, units::Epoch epoch);
  void advance(units::Instant now);
  void lose(Engine& engine);
  // The live try of this request is over; what was begun is not begun again.
  void lose(Alive& alive);
  void unbook(const domain::AttemptRef& ref);
  void settle(const domain::End& d, const Alive& alive);
  bool could_fit_somewhere(const domain::Request& request) const;
  const domain::Tenant* tenant(units::TenantId id) const;

  pool::PoolConfig config_;
  Findings findings_;
  std::map<units::RequestId, Alive> alive_;
  std::set<units::RequestId> ended_;
  std::map<units::EngineId, Engine> engines_;
  std::map<units::TenantId, Spent> spent_;
  units::Instant now_{INT64_MIN};
  units::Instant start_;
  units::Instant wake_at_ = units::Instant::never();
  bool started_ = false;
};

}  // namespace tidegate::invariants
