// One engine as the pool sees it: the ledger of promises made on it, its step-time law and its
// state. The ledger is the pool's own and counts a dispatch at once, before the engine has heard of
// it; StateReport corrects only what the pool cannot know (prefill progress, cache hits, speed,
// foreign load). One owner; allocates only when it is made, when its engine comes back, or when the
// ledger grows past twice what the engine is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/peak.h"
#include "cost/step_law.h"
#include "domain/engine_spec.h"
#include "domain/seam.h"
#include "pool/config.h"
#include "pool/placement/load_sums.h"
#include "pool/placement/pledge.h"
#include "pool/placement/prefill_line.h"

namespace tidegate::pool {

enum class EngineState : std::uint8_t { kReady, kDraining, kLost };

class EngineView {
 public:
  EngineView(const domain::EngineSpec& spec, const PoolPolicy& policy);

  const domain::EngineSpec& spec() const { return spec_; }
  const cost::StepLaw& law() const { return law_; }
  EngineState state() const { return state_; }
  void set_state(EngineState state) { state_ = state; }
  bool ready() const { return state_ == EngineState::kReady; }
  // The same life with a new description, or a new life; a new life has an empty ledger.
  void join(const domain::EngineSpec& spec);

  // Nothing runs here and nothing is promised.
  bool idle() const { return count_ == 0; }
  std::int64_t pledges() const { return count_; }
  // Every pledge ever indexed, used or not; for walks.
  const std::vector<Pledge>& ledger() const { return ledger_; }
  const Pledge& pledge(PledgeIndex index) const { return ledger_[index]; }
  // Pledges with prompt still to compute, in the order in which the engine serves them.
  const PrefillLine& prefilling() const { return prefilling_; }
  // The pledge of this very try. O(pledges).
  std::optional<PledgeIndex> find(const domain::AttemptRef& ref) const;

  PledgeIndex add(const Claim& claim, const domain::Request& request);
  void accept(PledgeIndex index) { ledger_[index].accepted = true; }
  // `count` more tokens; true when predictions about this engine changed.
  bool produce(PledgeIndex index, units::Tokens count, units::Instant now);
  // Its caller is gone; what it holds is counted until release().
  void disown(PledgeIndex index);
  void release(PledgeIndex index);
  void clear();
  void report(const domain::StateReport& report);

  // What gates a newcomer of `tier`. Best effort makes way for others on engines that batch with
  // our scheduler, which preempts it. O(1), after a change O(prefilling).
  const Load& load(domain::Tier tier) const;
  // Does a pledge of tier `promised` gate a newcomer of `tier`?
  bool gates(domain::Tier promised, domain::Tier tier) const {
    return promised != domain::Tier::kBestEffort || !makes_way(tier);
  }
  // KV tokens that predictions may fill.
  units::Tokens capacity() const { return capacity_; }
  // Predicted peak of all that gates `tier`, and of `extra` when given, in whole-block tokens.
  // Exact when it is above `enough`, else a cheap upper bound that is not. O(pledges) at most.
  units::Tokens peak(domain::Tier tier, const cost::Resident* extra, units::Tokens enough) const;
  // What the footprint occupies once its prompt is in, and how it is expected to grow.
  cost::Resident resident(const domain::Footprint& footprint) const;
  // What is left of the running step, as far as is known.
  units::Nanos step_left(const Load& load, units::Instant now) const;
  // Prefill in front of `key` in the engine's order for newcomers of `tier`.
  Work ahead_of(domain::Tier tier, const OrderKey& key) const;
  // Time to compute so much prefill beside the running decodes.
  units::Nanos prefill_time(const Load& load, const Work& work) const;
  // At least prefill_time() of `work` and of every part of it, which can be above that of the
  // whole: fewer steps with more in each may be cheaper or dearer.
  units::Nanos prefill_time_bound(const Load& load, const Work& work) const;
  // A decode step with half of everything in use: a price that does not move with the load.
  units::Nanos nominal_step() const { return nominal_step_; }
  // Engine time that a request is worth: what steps that are full would take longer for its prefill
  // and its decodes.
  units::Nanos price(units::Tokens prefill, units::Tokens output) const;
  // Of all of a request, as far as is known before it runs.
  units::Nanos price(const domain::Footprint& footprint) const;

 private:
  // One entry of the list that the sweep for the peak goes through.
  struct Kept {
    cost::Resident resident;
    bool best_effort = false;
  };
  static Kept kept(const Pledge& pledge);
  static bool kept_before(const Kept& a, const Kept& b);

  // Does best effort make way for a newcomer of `tier`?
  bool makes_way(domain::Tier tier) const {
    return spec_.own_batching && tier != domain::Tier::kBestEffort;
  }
  void refresh(Pledge& pledge);
  // Takes a pledge into every sum, and out of them with the values it was taken in with.
  void count_in(const Pledge& pledge, PledgeIndex index);
  void count_out(const Pledge& pledge);
  units::Tokens whole_blocks(units::Tokens tokens) const;
  Load sum(domain::Tier tier) const;
  void derive(Load& load) const;
  void set_spec(const domain::EngineSpec& spec);

  domain::EngineSpec spec_;
  PoolPolicy policy_;
  cost::StepLaw law_;
  EngineState state_ = EngineState::kReady;
  units::Tokens capacity_{0};
  units::Nanos nominal_step_{0};

  std::vector<Pledge> ledger_;
  std::vector<PledgeIndex> free_;
  PrefillLine prefilling_;
  LoadSums sums_;
  LoadSums sums_without_best_effort_;
  std::vector<Kept> residents_;  // longest remaining first
  std::int64_t count_ = 0;
  units::Instant step_end_;
  units::Tokens foreign_{0};

  mutable Load all_;
  mutable Load without_best_effort_;
  mutable bool stale_ = true;
};

}  // namespace tidegate::pool
