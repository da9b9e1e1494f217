#include "pool/queueing/timers.h"

#include <limits>

namespace tidegate::pool {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

}  // namespace

Timers::Timers(std::size_t slots) : position_(slots, kNowhere) {
  heap_.reserve(slots);
}

units::Instant Timers::earliest_at() const {
  return heap_.empty() ? units::Instant::never() : heap_.front().at;
}

void Timers::set(SlotIndex slot, units::Instant at) {
  const std::size_t old = position_[slot];
  if (at == units::Instant::never()) {
    if (old != kNowhere) remove(old);
    return;
  }
  if (old == kNowhere) {
    heap_.push_back({});
    place(heap_.size() - 1, {at, slot});
    sift_up(heap_.size() - 1);
    return;
  }
  place(old, {at, slot});
  sift_up(old);
  sift_down(position_[slot]);
}

void Timers::remove(std::size_t position) {
  position_[heap_[position].slot] = kNowhere;
  const Item last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  place(position, last);
  sift_up(position);
  sift_down(position_[last.slot]);
}

void Timers::place(std::size_t position, Item item) {
  heap_[position] = item;
  position_[item.slot] = position;
}

void Timers::sift_up(std::size_t position) {
  const Item item = heap_[position];
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (heap_[parent] <= item) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, item);
}

void Timers::sift_down(std::size_t position) {
  const Item item = heap_[position];
  while (true) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) child += 1;
    if (item <= heap_[child]) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, item);
}

}  // namespace tidegate::pool
