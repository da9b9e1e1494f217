#include "report/timeline.h"

#include <algorithm>
#include <utility>

#include "report/totals.h"
#include "units/check.h"

namespace tidegate::report {
namespace {

// Makes each pair of neighbours one and leaves the second half empty.
template <class S>
void halve(std::vector<S>& slices) {
  for (std::size_t i = 0; i < slices.size() / 2; ++i) {
    S merged = std::move(slices[2 * i]);
    merged.add(slices[2 * i + 1]);
    slices[i] = std::move(merged);
  }
  std::fill(slices.begin() + static_cast<std::ptrdiff_t>(slices.size() / 2), slices.end(), S{});
}

}  // namespace

void Level::sample(std::int64_t value) {
  max = samples == 0 ? value : std::max(max, value);
  samples += 1;
  sum = units::add_saturating(sum, value);
}

void Level::add(const Level& other) {
  if (other.samples == 0) return;
  max = samples == 0 ? other.max : std::max(max, other.max);
  samples += other.samples;
  sum = units::add_saturating(sum, other.sum);
}

void Slice::ended(domain::Outcome outcome, domain::Reason reason) {
  if (outcome == domain::Outcome::kCompleted) {
    completed += 1;
  } else if (is_refusal(outcome)) {
    shed[static_cast<std::size_t>(reason)] += 1;
  } else if (outcome != domain::Outcome::kCancelled) {
    failed += 1;
  }
}

void Slice::add(const Slice& other) {
  arrivals += other.arrivals;
  completed += other.completed;
  failed += other.failed;
  for (std::size_t i = 0; i < shed.size(); ++i) shed[i] += other.shed[i];
  preemptions += other.preemptions;
  output += other.output;
  queued.add(other.queued);
  service_gap.add(other.service_gap);
}

void GroupSlice::add(const GroupSlice& other) {
  running.add(other.running);
  kv_used.add(other.kv_used);
  busy += other.busy;
}

Timeline::Timeline(std::vector<Group> groups, units::Instant counted_from)
    : groups_(std::move(groups)),
      counted_from_(counted_from),
      slices_(kSlices),
      group_slices_(groups_.size(), std::vector<GroupSlice>(kSlices)) {}

Slice& Timeline::at(units::Instant now) {
  return slices_[index_of(now)];
}

GroupSlice& Timeline::at(units::Instant now, std::size_t group) {
  TIDEGATE_CHECK(group < groups_.size());
  return group_slices_[group][index_of(now)];
}

std::span<const GroupSlice> Timeline::slices(std::size_t group) const {
  TIDEGATE_CHECK(group < groups_.size());
  return {group_slices_[group].data(), used_};
}

std::int64_t Timeline::widest_service_gap() const {
  std::int64_t widest = 0;
  for (const Slice& slice : slices_) widest = std::max(widest, slice.service_gap.max);
  return widest;
}

units::Nanos Timeline::covered(std::size_t index) const {
  const units::Instant begin(
      units::multiply_saturating(length_.value(), static_cast<std::int64_t>(index)));
  return std::clamp(last_ - begin, length_ / 8, length_);
}

std::size_t Timeline::index_of(units::Instant now) {
  TIDEGATE_CHECK(now >= units::Instant() && now != units::Instant::never());
  if (slices_.empty()) slices_.resize(kSlices);  // a default-made one that is used after all
  // What happens at the very end of a slice is in it, so that a run of whole slices fills them.
  const units::Nanos since = std::max(now - units::Instant() - units::Nanos(1), units::Nanos(0));
  while (since / length_ >= static_cast<std::int64_t>(kSlices)) merge_neighbours();
  const auto index = static_cast<std::size_t>(since / length_);
  last_ = std::max(last_, now);
  used_ = std::max(used_, index + 1);
  return index;
}

void Timeline::merge_neighbours() {
  halve(slices_);
  for (auto& slices : group_slices_) halve(slices);
  used_ = (used_ + 1) / 2;
  length_ = length_ * 2;
}

}  // namespace tidegate::report
