// The oracle of the engine tier: hears every call that its scheduler gets and everything that comes
// out, keeps a shadow of its own (live tries, token counts, the engine's memory token by token),
// and says which invariants do not hold: S1-S7, S9, S11, S12. It never asks the scheduler what the
// answer should be. Pure; one owner; one oracle for one life of one engine.
//
// Each function is called after the scheduler's function of the same name, with what it was given
// and gave, and returns what it found: empty when all is well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "batch/batch_config.h"
#include "batch/batch_scheduler.h"
#include "invariants/batch_view.h"
#include "invariants/findings.h"
#include "invariants/slot_model.h"

namespace tidegate::invariants {

class BatchOracle {
 public:
  explicit BatchOracle(const batch::BatchConfig& config);

  Violations submit(const domain::Assign& assign, units::Instant now);
  Violations abort(const domain::AttemptRef& ref, units::Instant now);
  Violations abort_all(domain::Outcome outcome, units::Instant now);
  Violations compose(const batch::StepPlan& plan, units::Instant now);
  Violations complete(const batch::StepResult& result, units::Instant now);
  Violations fail_step(batch::StepFault fault, units::Instant now);
  // What drain_events() gave, after any of the above.
  Violations events(std::span<const batch::EngineEvent> events);
  // The state once the events of the last call were drained. O(blocks + live tries).
  Violations state(const BatchView& view);

  std::size_t live() const { return live_.size(); }

 private:
  struct Less {
    bool operator()(const domain::AttemptRef& a, const domain::AttemptRef& b) const;
  };
  struct Try {
    domain::Request request;
    std::int64_t produced = 0;
    bool accepted = false;
    bool stopped = false;                     // the engine saw a stop
    bool sampled = false;                     // a token of the completed step is due
    std::optional<domain::Outcome> ending{};  // asked to end so
    std::int64_t aborted_before = 0;          // number of the first plan it must not be in
  };

  void advance(units::Instant now);
  void check_rows(const batch::StepPlan& plan);
  void check_row(const batch::Row& row);
  void hear(const domain::Accepted& event);
  void hear(const domain::TokensProduced& event);
  void hear(const domain::Finished& event);
  void hear(const domain::Failed& event);
  void check_completed(const domain::AttemptRef& ref, const Try& live, domain::Outcome outcome);
  Try* find(const domain::AttemptRef& ref, const char* what);
  void check_blocks(const BatchView& view);
  void check_slot(const BatchView& view, std::size_t slot, std::vector<std::int64_t>& holders);
  void check_sequences(const BatchView& view);
  void check_sequence(const BatchView& view, const batch::SequenceView& sequence);
  void check_endings(const BatchView& view);

  batch::BatchConfig config_;
  SlotModel memory_;
  Findings findings_;
  std::map<domain::AttemptRef, Try, Less> live_;
  std::optional<batch::StepPlan> running_;
  std::int64_t last_plan_ = 0;
  bool any_plan_ = false;
  units::Instant now_{INT64_MIN};
};

}  // namespace tidegate::invariants
