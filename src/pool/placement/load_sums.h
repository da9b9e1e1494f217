// The sums of a Load, kept as pledges come, change and go, so that asking for them costs nothing:
// a pledge is taken out as it was and put back as it is. Sums are exact in 128 bits and held at the
// limits of 64 when read, which equals a saturating sum because nothing added is negative.
// One owner; allocates only when more different paces run together than were reserved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pool/placement/pledge.h"
#include "units/integer.h"

namespace tidegate::pool {

// A multiset of paces that knows its tightest: few differ, so they are counted in a sorted list.
class PaceCounts {
 public:
  void reserve(std::size_t different) { counts_.reserve(different); }
  // O(different paces).
  void add(units::Nanos pace);
  // REQUIRES: it was added.
  void remove(units::Nanos pace);
  void clear() { counts_.clear(); }
  // max() when there is none.
  units::Nanos tightest() const;

 private:
  struct Count {
    units::Nanos pace{0};
    std::int64_t times = 0;
  };
  std::vector<Count>::iterator place(units::Nanos pace);

  std::vector<Count> counts_;  // tightest first
};

class LoadSums {
 public:
  void reserve(std::size_t pledges);
  void add(const Pledge& pledge);
  // REQUIRES: it was added with the same values.
  void remove(const Pledge& pledge);
  void clear();
  // Without what the ledger does not sum: foreign load, prefill and everything derived.
  Load load() const;

 private:
  void count(const Pledge& pledge, std::int64_t sign);

  std::int64_t sequences_ = 0;
  std::int64_t decodes_ = 0;
  units::Int128 held_ = 0;
  units::Int128 remaining_ = 0;
  units::Int128 variance_ = 0;
  units::Int128 decode_context_ = 0;
  PaceCounts promised_;
  PaceCounts running_;
};

}  // namespace tidegate::pool
