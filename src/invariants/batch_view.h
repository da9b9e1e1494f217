// A copy of what one engine's batch tier holds, as plain values: what the oracle checks, and what
// a test can alter to see that the oracle notices.
#pragma once

#include <cstdint>
#include <vector>

#include "batch/batch_scheduler.h"
#include "units/quantity.h"

namespace tidegate::invariants {

struct SlotView {
  batch::SlotUse use = batch::SlotUse::kFree;
  std::vector<std::uint32_t> blocks;
};

struct BatchView {
  units::Blocks total{0};
  units::Blocks free{0};
  units::Blocks referenced{0};
  units::Blocks cached{0};
  std::vector<SlotView> slots;
  std::vector<std::int64_t> holders;  // by block number
  std::vector<batch::SequenceView> sequences;
  bool outstanding = false;
};

// Everything, copied: O(blocks held + live tries).
BatchView view_of(const batch::BatchScheduler& scheduler);

}  // namespace tidegate::invariants
