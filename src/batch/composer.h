// Composes one step: which sequences run, who must leave for it, and how long each prompt chunk is
// (scheduling, 7). Works in scratch (Sequence::take) and writes the plan once, at the end.
//
//   1. urgent waiting work of a higher tier makes way for itself            (victims.h)
//   2. the running ones' next tokens get their blocks, or somebody leaves
//   3. decodes, most urgent first, and the time they leave for prompts      (pace.h)
//   4. prompts by key until that time is used: running ones go on, waiting ones start
//   5. rows, shape, trims
//
// Source: decodes first with chunked prefill is Sarathi-Serve (OSDI'24); a chunk budget in time
// from the tightest slack follows QoServe and Niyama. One owner; no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/core.h"
#include "batch/pace.h"
#include "batch/reservation.h"
#include "batch/step_policy.h"
#include "batch/victims.h"

namespace tidegate::batch {

class Composer final : public StepPolicy {
 public:
  explicit Composer(Core& core);
  StartKey start_key(const domain::Assign& assign) override { return core_.start_key(assign); }
  void compose(units::Instant now) override;
  bool shed_one(units::Instant now) override;

 private:
  void reset(units::Instant now);

  // Steps 1 and 2, before anything is planned.
  void demote_late();
  bool late(const Sequence& sequence) const;
  void let_urgent_in();
  bool urgent(const Sequence& head) const;
  bool can_start(Index head, const KvBlocks::Hit& hit, std::int64_t before_it);
  void grow_decodes();
  units::Blocks decode_growth() const;
  // Takes memory from the least valuable one; from the last one, the belief that there is less
  // than the engine has. False when there is nothing to take.
  bool give_way();

  // Step 3.
  void plan_decodes();
  void sort_decodes();
  void limit_decodes();
  void leave_to_guaranteed(std::span<const Index> in_order);
  void resume_skipped();
  void take_decodes();
  std::span<const Index> prompts_in_order();
  void measure_decodes();

  // Step 4.
  void plan_prompts();
  void collect_prompts();
  Index oldest(const std::vector<Index>& list) const;
  bool seats_come_first() const;
  void give_floor();
  units::Nanos kept_for_floor() const;
  bool floor_saved_up(Index index);
  void drip();
  void serve_prompts();
  bool serve_running();
  bool serve_waiting();
  bool more_follow() const;
  units::Nanos single_budget(const Sequence& sequence) const;
  bool may_be_partial(const Sequence& sequence) const;
  units::Tokens affordable(const Sequence& sequence, units::Tokens context,
                           units::Nanos budget) const;
  units::Tokens in_tiles(units::Tokens chunk, units::Tokens context, units::Tokens limit) const;
  units::Tokens whole_tile_or(units::Tokens chunk, units::Tokens context,
                              units::Tokens limit) const;
  units::Tokens with_rest(units::Tokens chunk, units::Tokens pending) const;
  bool give(Index index, units::Nanos budget);
  void take_back(Sequence& sequence);
  void take(Sequence& sequence, units::Tokens chunk);

  // Starting a waiting one.
  enum class Start : std::uint8_t { kStarted, kLater, kNoTime, kNoSequence };
  Start start(Index index, units::Nanos budget);
  bool waits_for_prefix(Sequence& sequence, std::int64_t found_blocks);
  bool memory_allows(Index index, const KvBlocks::Hit& hit);
  bool room_to_return(const Sequence& sequence) const;
  void note_blocked(Index index);
  void open(Index index, const KvBlocks::Hit& hit, units::Tokens chunk);
  void resume_decode(Index index);

  Core& core_;
  Reservation reservation_;
  Victims victims_;
  Pace pace_;

  // Scratch of the plan being composed.
  units::Instant now_;
  StepBudget budget_;
  cost::StepShape shape_;
  units::Nanos decode_time_{0};
  std::int64_t tokens_left_ = 0;  // for prompts
  std::vector<Index> decodes_;    // by the time their token is wanted
  std::vector<Index> prompts_;    // running, not decoding, by key
  std::vector<Index> in_order_;   // those and the first waiting ones, by key
  std::size_t next_prompt_ = 0;
  std::size_t next_waiting_ = 0;
  std::int64_t partial_ = 0;  // prompts that this step does not finish
  std::int64_t started_ = 0;
  std::int64_t sat_out_ = 0;  // streams without a turn in this step
  bool made_way_ = false;     // somebody left for an urgent one in this step
  bool drip_due_ = false;
  Index blocked_ = SequenceTable::kNone;  // the first waiting one that found no memory
  Index limited_ = SequenceTable::kNone;  // left a part of the step to those behind it
  bool waiting_closed_ = false;           // no more starts in this step
};

}  // namespace tidegate::batch
