// One engine as the pool sees it: the ledger of promises made on it, its step-time law and its
// state. The ledger is the pool's own and counts a dispatch at once, before the engine has heard of
// it; StateReport corrects only what the pool cannot know (prefill progress, cache hits, speed,
// foreign load). One owner; allocates only when it is made, when its engine comes back, or when the
// ledger grows past twice the engine's sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/length_forecast.h"
#include "cost/peak.h"
#include "cost/step_law.h"
#include "domain/engine_spec.h"
#include "domain/seam.h"
#include "pool/config.h"
#include "pool/queueing/order.h"

namespace tidegate::pool {

enum class EngineState : std::uint8_t { kReady, kDraining, kLost };

using PledgeIndex = std::uint32_t;

// One request on one engine, from Assign until the engine confirms that nothing of it is left.
struct Pledge {
  domain::AttemptRef ref;
  SlotIndex slot = kNoSlot;  // kNoSlot: ended for its caller, the engine has yet to confirm
  domain::Tier tier = domain::Tier::kWithinShare;
  OrderKey key;
  domain::Promise promise;
  domain::Footprint footprint;
  units::Tokens produced{0};
  units::Tokens prefill_left{0};
  bool accepted = false;

  // As of the last refresh; predictions move only every so many tokens.
  units::Tokens held{0};     // in whole blocks
  units::Tokens context{0};  // tokens
  cost::Remaining remaining{};
  units::Tokens refresh_at{0};
  bool late = false;  // its last token missed its due time: it gates nobody
  bool used = false;

  bool ghost() const { return slot == kNoSlot; }
};

// What gates a newcomer: sums over the pledges that would not make way for it.
struct Load {
  std::int64_t sequences = 0;
  std::int64_t decodes = 0;
  units::Tokens decode_context{0};
  units::Tokens held{0};  // foreign load included
  units::Tokens remaining{0};
  std::int64_t variance = 0;
  units::Nanos running_pace = units::Nanos::max();   // tightest of those that decode
  units::Nanos promised_pace = units::Nanos::max();  // tightest of all
  // Derived: the prefill a step can carry while all paces hold, and a step without any.
  units::Tokens chunk{1};
  units::Nanos step{0};
  Work prefill;  // still to compute
  // The mean time between two ends, taken as evenly staggered; 0 when nothing runs.
  units::Nanos end_distance{0};

  cost::StepShape decode_shape() const;
};

// Who takes a place on an engine, and where in the engine's order.
struct Claim {
  domain::AttemptRef ref;
  SlotIndex slot = kNoSlot;
  domain::Tier tier = domain::Tier::kWithinShare;
  OrderKey key;
};

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
  const std::vector<PledgeIndex>& prefilling() const { return prefilling_; }
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
  // our scheduler, which preempts it. O(pledges) after a change, else O(1).
  const Load& load(domain::Tier tier) const;
  // Does this pledge gate a newcomer of `tier`?
  bool gates(const Pledge& pledge, domain::Tier tier) const {
    if (!pledge.used) return false;
    const bool makes_way = spec_.own_batching && pledge.tier == domain::Tier::kBestEffort &&
                           tier != domain::Tier::kBestEffort;
    return !makes_way;
  }
  // KV tokens that predictions may fill.
  units::Tokens capacity() const;
  // Predicted peak of all that gates `tier`, and of `extra` when given, in whole-block tokens.
  // Exact when it is above `enough`, else a cheap upper bound that is not. O(n log n) at most.
  units::Tokens peak(domain::Tier tier, const cost::Resident* extra, units::Tokens enough) const;
  // What the footprint occupies once its prompt is in, and how it is expected to grow.
  cost::Resident resident(const domain::Footprint& footprint) const;
  // What is left of the running step, as far as is known.
  units::Nanos step_left(const Load& load, units::Instant now) const;
  // Prefill in front of `key` in the engine's order for newcomers of `tier`.
  Work ahead_of(domain::Tier tier, const OrderKey& key) const;
  // Time to compute so much prefill beside the running decodes.
  units::Nanos prefill_time(const Load& load, const Work& work) const;
  // A decode step with half of everything in use: a price that does not move with the load.
  units::Nanos nominal_step() const { return nominal_step_; }
  // Engine time that a request is worth: its prefill and its share of nominal decode steps.
  units::Nanos price(units::Tokens prefill, units::Tokens output) const;

 private:
  void refresh(Pledge& pledge);
  void start_prefill(PledgeIndex index);
  void stop_prefill(PledgeIndex index);
  units::Tokens whole_blocks(units::Tokens tokens) const;
  Load sum(domain::Tier tier) const;
  void derive(Load& load) const;
  void set_spec(const domain::EngineSpec& spec);

  domain::EngineSpec spec_;
  PoolPolicy policy_;
  cost::StepLaw law_;
  EngineState state_ = EngineState::kReady;
  units::Nanos nominal_step_{0};
  std::int64_t nominal_decodes_ = 1;

  std::vector<Pledge> ledger_;
  std::vector<PledgeIndex> free_;
  std::vector<PledgeIndex> prefilling_;
  std::int64_t count_ = 0;
  units::Instant step_end_;
  units::Tokens foreign_{0};

  mutable Load all_;
  mutable Load without_best_effort_;
  mutable bool stale_ = true;
  mutable std::vector<cost::Resident> scratch_;
};

// Prefill work of `left` tokens at the end of a prompt of `prompt` tokens.
Work prefill_work(units::Tokens prompt, units::Tokens left);

}  // namespace tidegate::pool
