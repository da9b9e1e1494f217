#include "pool/queueing/ordered_queue.h"

#include <utility>

#include "units/check.h"

namespace tidegate::pool {
namespace {

struct Halves {
  SlotIndex low = kNoSlot;   // keys < the split key
  SlotIndex high = kNoSlot;  // the others
};

std::uint64_t mix(std::uint64_t v) {
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9ULL;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBULL;
  return v ^ (v >> 31);
}

Work sum_of(const QueueNodes& nodes, SlotIndex slot) {
  return slot == kNoSlot ? Work{} : nodes[slot].sum;
}

void refresh(QueueNodes& nodes, SlotIndex slot) {
  QueueNode& node = nodes[slot];
  node.through = node.own;
  node.through += sum_of(nodes, node.left);
  node.sum = node.through;
  node.sum += sum_of(nodes, node.right);
}

Halves split(QueueNodes& nodes, SlotIndex root, const OrderKey& key) {
  if (root == kNoSlot) return {};
  QueueNode& node = nodes[root];
  if (node.key < key) {
    const Halves rest = split(nodes, node.right, key);
    node.right = rest.low;
    refresh(nodes, root);
    return {root, rest.high};
  }
  const Halves rest = split(nodes, node.left, key);
  node.left = rest.high;
  refresh(nodes, root);
  return {rest.low, root};
}

SlotIndex merge(QueueNodes& nodes, SlotIndex low, SlotIndex high) {
  if (low == kNoSlot) return high;
  if (high == kNoSlot) return low;
  if (nodes[low].priority > nodes[high].priority) {
    nodes[low].right = merge(nodes, nodes[low].right, high);
    refresh(nodes, low);
    return low;
  }
  nodes[high].left = merge(nodes, low, nodes[high].left);
  refresh(nodes, high);
  return high;
}

// The root of what remains of `root` without `slot`, which is in it.
SlotIndex without(QueueNodes& nodes, SlotIndex root, SlotIndex slot) {
  TIDEGATE_CHECK(root != kNoSlot);
  if (root == slot) return merge(nodes, nodes[root].left, nodes[root].right);
  if (nodes[slot].key < nodes[root].key) {
    nodes[root].left = without(nodes, nodes[root].left, slot);
  } else {
    nodes[root].right = without(nodes, nodes[root].right, slot);
  }
  refresh(nodes, root);
  return root;
}

}  // namespace

Work OrderedQueue::total(const QueueNodes& nodes) const {
  return sum_of(nodes, root_);
}

void OrderedQueue::insert(QueueNodes& nodes, SlotIndex slot, const OrderKey& key,
                          const Work& work) {
  nodes[slot] = {
      .key = key, .through = work, .own = work, .sum = work, .priority = mix(key.id.value())};
  const Halves halves = split(nodes, root_, key);
  root_ = merge(nodes, merge(nodes, halves.low, slot), halves.high);
}

void OrderedQueue::erase(QueueNodes& nodes, SlotIndex slot) {
  root_ = without(nodes, root_, slot);
  nodes[slot].left = kNoSlot;
  nodes[slot].right = kNoSlot;
}

SlotIndex OrderedQueue::first(const QueueNodes& nodes) const {
  SlotIndex slot = root_;
  while (slot != kNoSlot && nodes[slot].left != kNoSlot) slot = nodes[slot].left;
  return slot;
}

SlotIndex OrderedQueue::last(const QueueNodes& nodes) const {
  SlotIndex slot = root_;
  while (slot != kNoSlot && nodes[slot].right != kNoSlot) slot = nodes[slot].right;
  return slot;
}

SlotIndex OrderedQueue::after(const QueueNodes& nodes, const OrderKey& key) const {
  SlotIndex best = kNoSlot;
  for (SlotIndex slot = root_; slot != kNoSlot;) {
    if (key < nodes[slot].key) {
      best = slot;
      slot = nodes[slot].left;
    } else {
      slot = nodes[slot].right;
    }
  }
  return best;
}

std::span<const Work> SumSearch::run(const QueueNodes& nodes, const OrderKey& key) {
  sums_.fill({});
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < count_; ++i) {
      if (at_[i] == kNoSlot) continue;
      const QueueNode& node = nodes[at_[i]];
      const bool right = node.key < key;
      if (right) sums_[i] += node.through;
      at_[i] = right ? node.right : node.left;
      if (at_[i] == kNoSlot) continue;
      more = true;
      __builtin_prefetch(&nodes[at_[i]]);
      __builtin_prefetch(&nodes[at_[i]].through.price);
    }
  }
  return {sums_.data(), std::exchange(count_, 0)};
}

SlotIndex OrderedQueue::at(const QueueNodes& nodes, std::int64_t index) const {
  SlotIndex slot = root_;
  while (true) {
    TIDEGATE_CHECK(slot != kNoSlot);
    const std::int64_t left = sum_of(nodes, nodes[slot].left).requests;
    if (index == left) return slot;
    if (index < left) {
      slot = nodes[slot].left;
    } else {
      index -= left + 1;
      slot = nodes[slot].right;
    }
  }
}

}  // namespace tidegate::pool
