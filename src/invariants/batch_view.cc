#include "invariants/batch_view.h"

namespace tidegate::invariants {

BatchView view_of(const batch::BatchScheduler& scheduler) {
  const batch::KvBlocks& kv = scheduler.kv();
  BatchView view;
  view.total = kv.total();
  view.free = kv.free();
  view.referenced = kv.referenced();
  view.cached = kv.cached();
  for (batch::Slot slot = 0; slot < kv.slots(); ++slot) {
    view.slots.push_back({kv.use(slot), kv.held(slot)});
  }
  for (std::int64_t block = 0; block < kv.total().value(); ++block) {
    view.holders.push_back(kv.holders(static_cast<std::uint32_t>(block)));
  }
  view.sequences = scheduler.sequences();
  view.outstanding = scheduler.outstanding();
  return view;
}

}  // namespace tidegate::invariants
