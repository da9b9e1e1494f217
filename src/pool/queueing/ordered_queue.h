// A queue sorted by OrderKey that also knows how much work stands before any key: a treap whose
// nodes carry the sum of their subtree. All operations but first() of an empty queue are
// O(log n) expected; nodes live in one array indexed by request slot, so nothing is allocated.
//
// The sums make position, work ahead and (later) eviction by cumulative work sub-linear. One owner.
// Source: treap, Seidel and Aragon, 1996; priorities are a hash of the id, so the shape is the same
// in every run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pool/queueing/order.h"

namespace tidegate::pool {

struct QueueNode {
  OrderKey key;
  SlotIndex left = kNoSlot;
  SlotIndex right = kNoSlot;
  Work through;  // own and everything below on the left: all that a search for sums reads
  Work own;
  Work sum;  // own and everything below
  std::uint64_t priority = 0;
};

// The nodes of all queues of one pool; each slot is in at most one queue.
using QueueNodes = std::vector<QueueNode>;

class OrderedQueue {
 public:
  bool empty() const { return root_ == kNoSlot; }
  Work total(const QueueNodes& nodes) const;
  // REQUIRES: slot is in no queue; no two keys are equal.
  void insert(QueueNodes& nodes, SlotIndex slot, const OrderKey& key, const Work& work);
  // REQUIRES: slot is in this queue.
  void erase(QueueNodes& nodes, SlotIndex slot);
  // kNoSlot when empty.
  SlotIndex first(const QueueNodes& nodes) const;
  SlotIndex last(const QueueNodes& nodes) const;
  // The first one whose key is greater; kNoSlot when there is none.
  SlotIndex after(const QueueNodes& nodes, const OrderKey& key) const;
  // The one with `index` others before it. REQUIRES: 0 <= index < total().requests.
  SlotIndex at(const QueueNodes& nodes, std::int64_t index) const;

 private:
  friend class SumSearch;

  SlotIndex root_ = kNoSlot;
};

// The sum over all with a smaller key, for several queues at once. Each step of a search waits for
// memory, so the searches go down side by side and their nodes are fetched together.
class SumSearch {
 public:
  static constexpr std::size_t kMost = 16;

  // REQUIRES: fewer than kMost were added since run().
  void add(const OrderedQueue& queue) { at_[count_++] = queue.root_; }
  std::size_t count() const { return count_; }
  // The sums, in the order of add(); valid until the next add(), from which a new round starts.
  std::span<const Work> run(const QueueNodes& nodes, const OrderKey& key);

 private:
  std::array<SlotIndex, kMost> at_{};
  std::array<Work, kMost> sums_{};
  std::size_t count_ = 0;
};

}  // namespace tidegate::pool
