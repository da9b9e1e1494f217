// A model of an engine's sequence memory that performs step plans token by token: what each slot
// holds, position by position. It knows which content each position of a request must have (equal
// prefix hashes mean equal content), so a plan that computes a row on top of anything but the
// request's own beginning is found out, however the block table arrived at it. One owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "batch/step_plan.h"
#include "domain/seam.h"
#include "invariants/findings.h"

namespace tidegate::invariants {

class SlotModel {
 public:
  SlotModel(std::int64_t slots, units::Tokens block_tokens);

  void perform(const batch::Trim& trim, Findings& findings);
  void perform(const batch::Copy& copy, Findings& findings);
  // REQUIRES: request is the one that row.ref names. O(row.from) when the slot changes hands, else
  // O(row.count).
  void perform(const batch::Row& row, const domain::Request& request, Findings& findings);
  // The rows performed since the last trims and copies were not computed after all.
  void undo(const batch::Row& row);

 private:
  struct Content {
    std::vector<std::uint64_t> tokens;
    std::optional<domain::AttemptRef> owner;  // whose beginning the tokens were shown to be
  };

  bool valid(batch::Slot slot) const;
  Content& at(batch::Slot slot) { return slots_[static_cast<std::size_t>(slot)]; }
  std::uint64_t content(const domain::AttemptRef& ref, const domain::Request& request,
                        std::int64_t position) const;

  std::vector<Content> slots_;
  std::int64_t block_tokens_;
};

}  // namespace tidegate::invariants
