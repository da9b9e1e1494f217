// One live try on the engine, as the batch tier keeps it, and the table of all of them: found by
// reference, waiting in the order of service, running in the order of their start. Plain data with
// no policy. One owner; no allocation after construction.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "batch/flat_index.h"
#include "batch/step_plan.h"
#include "cost/length_forecast.h"
#include "domain/seam.h"
#include "units/quantity.h"

namespace tidegate::batch {

// How a try stands towards its promise (scheduling, 2). Missed and hopeless ones never gate others.
enum class Status : std::uint8_t { kProtected, kAtRisk, kBestEffort, kMissed, kHopeless };

// Who comes first within a tier.
enum class StartRank : std::uint8_t {
  kReturning,   // was preempted: keeps its age, and goes first
  kPromised,    // earliest deadline first
  kUnpromised,  // also missed and hopeless ones: by the deadline of BatchConfig::best_effort_*
};

// The order in which prompts are served: tier, rank, deadline, then least laxity (at an equal
// deadline that is the longest prefill), then id.
struct StartKey {
  domain::Tier tier = domain::Tier::kWithinShare;
  StartRank rank = StartRank::kPromised;
  units::Instant due;
  units::Nanos minus_own_work{0};
  units::RequestId request;
  units::Attempt attempt;

  friend auto operator<=>(const StartKey&, const StartKey&) = default;
};

struct Sequence {
  domain::Assign assign;
  std::int64_t order = 0;  // of submission
  StartKey key;
  Slot slot = -1;
  bool aborting = false;
  domain::Outcome abort_outcome = domain::Outcome::kCancelled;

  units::Tokens produced{0};
  units::Tokens computed{0};       // tokens that the slot holds
  units::Tokens cached_prompt{0};  // at the first start
  bool started = false;            // at least once
  units::Instant last_token_at;
  std::int64_t preemptions = 0;
  std::int64_t preempted_step = -1;
  units::Tokens lost{0};  // computed tokens that the last preemption dropped

  std::int64_t bypasses = 0;
  std::int64_t sharing_waits = 0;
  std::int64_t refused_step = -1;     // last time its memory peak did not fit,
  std::int64_t refused_version = -1;  // with this sharing

  cost::Remaining forecast;  // as of forecast_at produced tokens
  units::Tokens forecast_at{-1};
  std::int64_t shared_prefix = 0;  // as of sharing_version
  std::int64_t sharing_version = -1;

  units::Tokens take{0};     // scratch: tokens in the plan being composed
  units::Instant wanted_by;  // scratch: when its next token is wanted

  units::Tokens length() const { return assign.request.footprint.prompt + produced; }
  units::Tokens pending() const { return length() - computed; }
  bool running() const { return slot >= 0; }
  bool decoding() const { return running() && produced.value() > 0 && pending().value() == 1; }
  const domain::Promise& promise() const { return assign.request.promise; }
  domain::Tier tier() const { return assign.tier; }
};

class SequenceTable {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = FlatIndex::kNone;

  SequenceTable(std::int64_t max_running, std::int64_t max_waiting);

  Sequence& operator[](Index index) { return store_[index]; }
  const Sequence& operator[](Index index) const { return store_[index]; }

  // kNone when there is no such live try.
  Index find(const domain::AttemptRef& ref) const;
  // A new waiting sequence with the key given. REQUIRES: not alive yet; waiting is not full.
  Index add(const domain::Assign& assign, const StartKey& key);
  bool waiting_full() const { return waiting_.size() >= max_waiting_; }
  // From waiting to running, in `slot`.
  void start(Index index, Slot slot);
  // From running back to waiting, with a new key.
  void stop(Index index, const StartKey& key);
  // A waiting sequence takes another place. O(waiting).
  void reorder(Index index, const StartKey& key);
  // The sequence is gone.
  void erase(Index index);

  const std::vector<Index>& waiting() const { return waiting_; }
  const std::vector<Index>& running() const { return running_; }
  std::int64_t running_in(domain::Tier tier) const {
    return running_by_tier_[static_cast<std::size_t>(tier)];
  }
  std::size_t size() const { return waiting_.size() + running_.size(); }

 private:
  void insert_waiting(Index index);
  void remove(std::vector<Index>& list, Index index);

  std::size_t max_waiting_;
  std::vector<Sequence> store_;
  std::vector<Index> free_;
  std::vector<Index> waiting_;  // by key
  std::vector<Index> running_;  // by start
  std::array<std::int64_t, domain::kTierCount> running_by_tier_{};
  FlatIndex by_ref_;
  std::int64_t next_order_ = 0;
};

}  // namespace tidegate::batch
