// A fixed-size open-addressing index from 64-bit keys to small numbers: linear probing, deletion by
// backward shift (Knuth, TAOCP 3, 6.4 R), no allocation after construction and no order to iterate
// in. Equal keys may stand for different things; the caller says which of them is meant. One owner.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "units/check.h"

namespace tidegate::batch {

class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Room for `entries` at a load of at most one half.
  explicit FlatIndex(std::size_t entries)
      : cells_(std::bit_ceil(2 * entries + 2)), mask_(cells_.size() - 1) {}

  // The value stored under `key` for which is(value) holds, or kNone. O(1) expected.
  template <class Is>
  std::uint32_t find(std::uint64_t key, Is is) const {
    for (std::size_t at = home(key); cells_[at].value != kNone; at = next(at)) {
      if (cells_[at].key == key && is(cells_[at].value)) return cells_[at].value;
    }
    return kNone;
  }
  std::uint32_t find(std::uint64_t key) const {
    return find(key, [](std::uint32_t) { return true; });
  }

  // REQUIRES: value != kNone; not more than `entries` are stored.
  void insert(std::uint64_t key, std::uint32_t value) {
    TIDEGATE_CHECK(value != kNone && 2 * ++size_ <= cells_.size());
    std::size_t at = home(key);
    while (cells_[at].value != kNone) at = next(at);
    cells_[at] = {key, value};
  }

  // REQUIRES: the pair is stored.
  void erase(std::uint64_t key, std::uint32_t value) {
    std::size_t hole = home(key);
    while (cells_[hole].key != key || cells_[hole].value != value) {
      TIDEGATE_CHECK(cells_[hole].value != kNone);
      hole = next(hole);
    }
    --size_;
    for (std::size_t at = next(hole); cells_[at].value != kNone; at = next(at)) {
      const std::size_t wanted = home(cells_[at].key);
      // The entry may move to the hole unless its home lies between the hole and itself.
      if (((at - wanted) & mask_) < ((at - hole) & mask_)) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = {};
  }

  std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t value = kNone;
  };

  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20) & mask_;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & mask_; }

  std::vector<Cell> cells_;
  std::size_t mask_;
  std::size_t size_ = 0;
};

}  // namespace tidegate::batch
