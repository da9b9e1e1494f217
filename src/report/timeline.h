// What happened when: the run cut into slices of equal length, at most kSlices of them. When time
// passes the last one, neighbours are merged and slices become twice as long, so memory stays flat
// however long a run is and a finished run has between half and all of kSlices. Whoever drives the
// run fills it through at(). Plain value, one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "domain/outcome.h"
#include "units/quantity.h"

namespace tidegate::report {

// A quantity that was looked at now and then.
struct Level {
  std::int64_t samples = 0;
  std::int64_t sum = 0;
  std::int64_t max = 0;  // of the samples; 0 when there are none

  void sample(std::int64_t value);
  void add(const Level& other);
};

struct Slice {
  std::int64_t arrivals = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;  // ended without completing, neither refused nor left by the caller
  std::array<std::int64_t, domain::kReasonCount> shed{};  // refused, by reason
  std::int64_t preemptions = 0;
  units::Tokens output{0};  // produced in the slice
  Level queued;             // requests waiting outside the engines
  // Between the most and the least served tenant that wait for one model, in nanoseconds of engine
  // time over weight.
  Level service_gap;

  void ended(domain::Outcome outcome, domain::Reason reason);
  void add(const Slice& other);
};

// One group of engines during a slice. Levels are of one engine each: mean x engines is the group.
struct GroupSlice {
  Level running;
  Level kv_used;         // blocks
  units::Nanos busy{0};  // of steps that ended in the slice, summed over engines

  void add(const GroupSlice& other);
};

class Timeline {
 public:
  static constexpr std::size_t kSlices = 256;
  static constexpr units::Nanos kFirstLength = units::milliseconds(125);

  // Engines of one kind, as in the report's by_gpu.
  struct Group {
    std::string name;
    std::int64_t engines = 0;
    units::Blocks kv_capacity{0};  // of all of them
  };

  Timeline() = default;
  // Requests that arrive before `counted_from` are in the timeline but not in the run's totals.
  explicit Timeline(std::vector<Group> groups, units::Instant counted_from = units::Instant());

  // The slice that `now` is in, to be added to. Valid until the next call. Amortised O(groups).
  // REQUIRES: now is not negative and not never().
  Slice& at(units::Instant now);
  // The same of one group. REQUIRES: group < groups().size().
  GroupSlice& at(units::Instant now, std::size_t group);

  bool empty() const { return used_ == 0; }
  const std::vector<Group>& groups() const { return groups_; }
  units::Instant counted_from() const { return counted_from_; }
  units::Nanos slice_length() const { return length_; }
  // From the beginning to the last one that anything was added to.
  std::span<const Slice> slices() const { return {slices_.data(), used_}; }
  std::span<const GroupSlice> slices(std::size_t group) const;
  // The widest service gap seen, in nanoseconds of engine time over weight.
  std::int64_t widest_service_gap() const;
  // How much of slice `index` the run covered: its length; less for the last one, but at least an
  // eighth of it, so that rates over a sliver of time do not stand out.
  units::Nanos covered(std::size_t index) const;

 private:
  std::size_t index_of(units::Instant now);
  void merge_neighbours();

  std::vector<Group> groups_;
  units::Instant counted_from_;
  units::Nanos length_ = kFirstLength;
  units::Instant last_;
  std::size_t used_ = 0;
  std::vector<Slice> slices_;
  std::vector<std::vector<GroupSlice>> group_slices_;
};

}  // namespace tidegate::report
