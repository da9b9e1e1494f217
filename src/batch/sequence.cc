#include "batch/sequence.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::batch {

namespace {

std::uint64_t key_of(const domain::AttemptRef& ref) {
  return ref.request.value() * 0xD1B54A32D192ED03ULL + ref.attempt.value();
}

}  // namespace

SequenceTable::SequenceTable(std::int64_t max_running, std::int64_t max_waiting)
    : max_waiting_(static_cast<std::size_t>(max_waiting)),
      // A preempted sequence waits even when the queue is full.
      store_(static_cast<std::size_t>(max_running + max_waiting)),
      by_ref_(store_.size()) {
  free_.reserve(store_.size());
  for (std::size_t i = store_.size(); i > 0; --i) free_.push_back(static_cast<Index>(i - 1));
  waiting_.reserve(store_.size());
  running_.reserve(static_cast<std::size_t>(max_running));
}

SequenceTable::Index SequenceTable::find(const domain::AttemptRef& ref) const {
  return by_ref_.find(key_of(ref), [&](Index index) { return store_[index].assign.ref == ref; });
}

SequenceTable::Index SequenceTable::add(const domain::Assign& assign, const StartKey& key) {
  TIDEGATE_CHECK(!free_.empty());
  const Index index = free_.back();
  free_.pop_back();
  Sequence& sequence = store_[index];
  sequence = {};
  sequence.assign = assign;
  sequence.order = next_order_++;
  sequence.key = key;
  by_ref_.insert(key_of(assign.ref), index);
  insert_waiting(index);
  return index;
}

void SequenceTable::start(Index index, Slot slot) {
  TIDEGATE_CHECK(running_.size() < running_.capacity());
  remove(waiting_, index);
  store_[index].slot = slot;
  running_.push_back(index);
  running_by_tier_[static_cast<std::size_t>(store_[index].tier())] += 1;
}

void SequenceTable::stop(Index index, const StartKey& key) {
  remove(running_, index);
  running_by_tier_[static_cast<std::size_t>(store_[index].tier())] -= 1;
  store_[index].slot = -1;
  store_[index].key = key;
  insert_waiting(index);
}

void SequenceTable::reorder(Index index, const StartKey& key) {
  remove(waiting_, index);
  store_[index].key = key;
  insert_waiting(index);
}

void SequenceTable::erase(Index index) {
  Sequence& sequence = store_[index];
  if (sequence.running()) {
    remove(running_, index);
    running_by_tier_[static_cast<std::size_t>(sequence.tier())] -= 1;
  } else {
    remove(waiting_, index);
  }
  by_ref_.erase(key_of(sequence.assign.ref), index);
  sequence.assign.request.prefix.reset();
  free_.push_back(index);
}

void SequenceTable::insert_waiting(Index index) {
  const auto later = [&](Index a, Index b) { return store_[a].key < store_[b].key; };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), index, later), index);
}

void SequenceTable::remove(std::vector<Index>& list, Index index) {
  const auto found = std::find(list.begin(), list.end(), index);
  TIDEGATE_CHECK(found != list.end());
  list.erase(found);
}

}  // namespace tidegate::batch
