#include "pool/request_table.h"

#include <bit>

#include "units/check.h"

namespace tidegate::pool {

RequestTable::RequestTable(std::size_t capacity)
    : entries_(capacity), buckets_(std::bit_ceil(2 * capacity + 2)) {
  free_.reserve(capacity);
  for (std::size_t i = capacity; i > 0; --i) free_.push_back(static_cast<SlotIndex>(i - 1));
}

std::size_t RequestTable::home(units::RequestId id) const {
  const std::uint64_t hash = id.value() * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(hash >> 32) & (buckets_.size() - 1);
}

SlotIndex RequestTable::take(units::RequestId id) {
  if (free_.empty()) return kNoSlot;
  const SlotIndex slot = free_.back();
  free_.pop_back();
  size_ += 1;
  std::size_t at = home(id);
  while (buckets_[at].slot != kNoSlot) at = (at + 1) & (buckets_.size() - 1);
  buckets_[at] = {id, slot};
  return slot;
}

SlotIndex RequestTable::find(units::RequestId id) const {
  for (std::size_t at = home(id); buckets_[at].slot != kNoSlot;
       at = (at + 1) & (buckets_.size() - 1)) {
    if (buckets_[at].id == id) return buckets_[at].slot;
  }
  return kNoSlot;
}

void RequestTable::free(SlotIndex slot) {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t hole = home(entries_[slot].request.id);
  while (buckets_[hole].slot != slot) {
    TIDEGATE_CHECK(buckets_[hole].slot != kNoSlot);
    hole = (hole + 1) & mask;
  }
  // Close the gap, so that no search stops early.
  for (std::size_t at = (hole + 1) & mask; buckets_[at].slot != kNoSlot; at = (at + 1) & mask) {
    const std::size_t distance = (at - home(buckets_[at].id)) & mask;
    if (distance < ((at - hole) & mask)) continue;
    buckets_[hole] = buckets_[at];
    hole = at;
  }
  buckets_[hole] = {};
  entries_[slot] = {};
  free_.push_back(slot);
  size_ -= 1;
}

}  // namespace tidegate::pool
