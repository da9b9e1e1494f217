// One wake-up time per request slot, earliest first: a binary heap that knows where each slot is,
// so that a timer can be moved or dropped in O(log n) and none is left behind (invariant S7).
// Ties go by slot. One owner; no allocation after construction.
#pragma once

#include <cstddef>
#include <vector>

#include "pool/queueing/order.h"

namespace tidegate::pool {

class Timers {
 public:
  explicit Timers(std::size_t slots);

  // Sets or moves the timer of `slot`; never() drops it.
  void set(SlotIndex slot, units::Instant at);
  void drop(SlotIndex slot) { set(slot, units::Instant::never()); }
  // The slot that is due first, kNoSlot when none is.
  SlotIndex earliest() const { return heap_.empty() ? kNoSlot : heap_.front().slot; }
  units::Instant earliest_at() const;
  std::size_t size() const { return heap_.size(); }

 private:
  struct Item {
    units::Instant at;
    SlotIndex slot = kNoSlot;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  void place(std::size_t position, Item item);
  void sift_up(std::size_t position);
  void sift_down(std::size_t position);
  void remove(std::size_t position);

  std::vector<Item> heap_;
  std::vector<std::size_t> position_;  // by slot; kNowhere when it has none
};

}  // namespace tidegate::pool
