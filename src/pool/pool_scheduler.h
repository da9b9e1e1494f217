// The pool tier: every request of the gateway from arrival to its one end. It holds requests
// outside the engines until an engine can take them without breaking a promise, and releases them
// by tier and deadline.
//
// A pure state machine: step(event, now) -> decisions. It reads no clock and no random device; the
// same configuration and events give the same decisions. One owner; no locks. No allocation after
// warm-up (engines have joined, their ledgers and the decision list have reached their sizes).
//
// The life of a request: arrival -> checks -> waiting room -> [Hold...] -> Admit, Assign -> End.
// Admit comes once, right before the first Assign; a request that is refused was never admitted.
// End comes exactly once, whatever happens, through finish(). Abort precedes the End of a request
// that still runs, and what it holds on the engine stays in the ledger until the engine confirms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "domain/decision.h"
#include "domain/event.h"
#include "pool/admission/expectation.h"
#include "pool/admission/expected_pace.h"
#include "pool/admission/limits.h"
#include "pool/admission/predicate.h"
#include "pool/admission/shadow_price.h"
#include "pool/config.h"
#include "pool/placement/choose.h"
#include "pool/placement/engine_view.h"
#include "pool/queueing/timers.h"
#include "pool/queueing/waiting_room.h"
#include "pool/request_table.h"
#include "pool/scheduler.h"
#include "units/prng.h"

namespace tidegate::pool {

class PoolScheduler final : public Scheduler {
 public:
  // REQUIRES: ids in the configuration are distinct and small; weights and bounds are positive.
  explicit PoolScheduler(PoolConfig config);

  // O(log waiting + tenants waiting for the model + engines of the model) for the usual event.
  std::span<const domain::Decision> step(const domain::Event& event, units::Instant now) override;

  const PoolConfig& config() const override { return config_; }
  const std::vector<EngineView>& engines() const override { return engines_; }
  const Counters& counters() const override { return counters_; }
  std::optional<TenantHolds> holds(units::TenantId tenant) const override;
  std::vector<LiveView> live_requests() const override;
  units::Instant now() const override { return now_; }
  std::int64_t waiting() const override { return room_.waiting(); }
  std::optional<units::Nanos> service_gap() const override;

  // O(requests alive + lanes).
  bool reconfigure(const PoolConfig& config) override;

  const RequestTable& requests() const { return table_; }
  const WaitingRoom& waiting_room() const { return room_; }
  const Timers& timers() const { return timers_; }
  bool draining() const { return draining_; }
  // What the predicate says about a waiting request now. REQUIRES: the slot waits.
  Verdict verdict(SlotIndex slot, EngineIndex engine) const;

 private:
  struct Model {
    Model(std::vector<std::int64_t> weight_of_tenant, units::Ppm queue_target)
        : price(std::move(weight_of_tenant), queue_target) {}

    std::vector<EngineIndex> engines;  // of this model, lost ones too
    std::int64_t ready = 0;            // of them
    bool held_up = false;              // one that was waited for left the room in this step
    units::Nanos drip_credit{0};       // engine time that best effort has coming
    std::uint64_t announce_turn = 0;
    std::size_t sample_turn = 0;
    ShadowPrice price;
    ExpectedPace expected_pace;
    bool pace_kept = false;  // for its sake somebody may wait
  };
  struct Refusal {
    domain::Outcome outcome = domain::Outcome::kRejectedCapacity;
    domain::Reason reason = domain::Reason::kNone;
    domain::Resource full = domain::Resource::kNone;
    units::Nanos drains_in{0};  // 0: retrying will not help
  };

  // Events (arrivals.cc, engine_events.cc).
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

  // Arrivals (arrivals.cc).
  std::optional<Refusal> refusal_at_the_door(const domain::Request& request) const;
  std::optional<Refusal> cannot_run(const domain::Request& request, std::size_t model) const;
  SlotIndex enter(const domain::Request& request, const Reservation& reservation);
  bool above_price(SlotIndex slot);
  units::Nanos patience(SlotIndex slot, std::int64_t ready) const;
  units::Nanos engine_queue(SlotIndex slot, std::int64_t ready);
  bool finds_idle_engine(SlotIndex slot) const;
  void start_waiting(SlotIndex slot);
  void keep_waiting(SlotIndex slot, const Expectation& expected, units::Instant gives_up);
  bool promise_is_lost(SlotIndex slot, const Expectation& expected, units::Instant gives_up) const;
  Refusal too_late(SlotIndex slot, const Expectation& expected) const;
  std::optional<Refusal> may_not_wait(SlotIndex slot, const Expectation& expected);
  std::optional<Refusal> queue_full(SlotIndex slot);
  bool downgrade(SlotIndex slot);
  void refuse(const domain::Request& request, const Refusal& refusal);

  // Release (release.cc).
  Ask ask_for(SlotIndex slot) const;
  void expect_pace(const Entry& entry, Ask& ask) const;
  OrderKey order_key(const Entry& entry) const;
  void join_lane(SlotIndex slot);
  SlotIndex next_that_can_run(std::span<const EngineIndex> engines);
  bool try_newcomer(SlotIndex slot);
  bool try_place(SlotIndex slot, std::span<const EngineIndex> engines, Verdict& verdict);
  void assign(SlotIndex slot, EngineIndex index, const Verdict& verdict);
  void count_bypasses();
  void release_all(std::size_t model);
  bool release_next(std::size_t model, std::span<const EngineIndex> engines);
  bool walk(std::size_t model, std::span<const EngineIndex> engines, bool best_effort_only);
  void release(EngineIndex engine);
  void count_drip(const Entry& entry, units::Nanos price);
  bool drip_due(std::size_t model);
  void announce(std::size_t model);
  void hold(SlotIndex slot, const Expectation& expectation, units::Instant gives_up);
  Expectation expectation(SlotIndex slot) const;
  units::Nanos next_end_of(std::size_t tenant) const;

  // Waiting without end, ends (endings.cc).
  void fire_timers();
  void expire(SlotIndex slot);
  void expire_waiting(SlotIndex slot);
  void expire_running(SlotIndex slot);
  // Is there a ready engine, of all or of these, that could ever hold it?
  bool can_run(SlotIndex slot) const;
  bool can_run(SlotIndex slot, std::span<const EngineIndex> engines) const;
  units::Instant gives_up_after(SlotIndex slot) const;
  void give_up(SlotIndex slot);
  void leave_room(SlotIndex slot);
  void abort(SlotIndex slot);
  void stop_running(SlotIndex slot);
  void unblock(std::size_t tenant);
  void serve_unblocked();
  void serve_held_up();
  void forget_paces();
  units::Instant next_wake() const;
  void finish(SlotIndex slot, const Refusal& end, const domain::Usage& usage);
  void settle(Entry& entry, const domain::Usage& usage, bool refused);
  domain::Usage usage_so_far(const Entry& entry) const;

  // Engine events (engine_events.cc).
  SlotIndex live(const domain::AttemptRef& ref);
  std::optional<EngineIndex> engine_of(units::EngineId id, units::Epoch epoch) const;
  bool release_ghost(const domain::AttemptRef& ref);
  void lose_all(EngineIndex index);
  void state_changed(EngineIndex index);
  void try_failed(SlotIndex slot, domain::Reason reason);

  std::optional<std::size_t> model_index(units::ModelId id) const;
  std::optional<std::size_t> tenant_index(units::TenantId id) const;
  units::Nanos jittered(units::Nanos span);

  PoolConfig config_;
  units::Prng prng_;
  std::vector<TenantAccount> accounts_;
  std::vector<Model> models_;
  std::vector<EngineView> engines_;
  RequestTable table_;
  WaitingRoom room_;
  Timers timers_;
  Counters counters_;
  std::vector<domain::Decision> decisions_;
  WaitingRoom::Walk walk_;              // scratch
  WaitingRoom::Walk drip_walk_;         // scratch
  std::vector<SlotIndex> skipped_;      // scratch
  std::vector<std::size_t> unblocked_;  // tenants that fell below their in-flight limit
  units::Instant now_;
  units::Instant last_wake_ = units::Instant::never();
  bool draining_ = false;
};

}  // namespace tidegate::pool
