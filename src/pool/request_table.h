// Every live request of the pool, by slot and by id: a fixed array with a free list and an open
// addressing index beside it. A slot is taken at arrival and freed at the one end of the request.
// One owner; no allocation after construction; find() is O(1) expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/request.h"
#include "domain/seam.h"
#include "pool/admission/limits.h"
#include "pool/placement/choose.h"
#include "pool/queueing/waiting_room.h"

namespace tidegate::pool {

enum class Phase : std::uint8_t { kFree, kWaiting, kOnEngine, kStopped };

struct Entry {
  domain::Request request;
  Phase phase = Phase::kFree;
  std::size_t model = 0;   // index into the configuration
  std::size_t tenant = 0;  // (the same)
  Band band = Band::kShare;
  LaneIndex lane = 0;
  OrderKey key;
  Reservation reservation;
  bool surplus = false;               // beyond its tenant's share when it arrived
  units::Nanos surplus_drains_in{0};  // until its tenant would be within its share

  // While on an engine.
  domain::Tier tier = domain::Tier::kWithinShare;
  domain::AttemptRef ref;
  EngineIndex engine = 0;
  PledgeIndex pledge = 0;
  units::Nanos charged{0};  // to its lane

  // Why it did not fit when it was last tried, and until when that is predicted to last.
  Verdict blocked{};
  units::Instant blocked_until;

  bool admitted = false;             // Admit was sent
  std::optional<EngineIndex> avoid;  // its first try failed there
  std::int64_t bypassed = 0;         // by others while it did not fit
  std::int64_t announced_position = 0;
  units::Instant announced_eta;
  units::Instant waits_since;
};

class RequestTable {
 public:
  explicit RequestTable(std::size_t capacity);

  // kNoSlot when full. REQUIRES: the id is not in the table.
  SlotIndex take(units::RequestId id);
  void free(SlotIndex slot);
  SlotIndex find(units::RequestId id) const;
  Entry& operator[](SlotIndex slot) { return entries_[slot]; }
  const Entry& operator[](SlotIndex slot) const { return entries_[slot]; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return entries_.size(); }

 private:
  struct Bucket {
    units::RequestId id;
    SlotIndex slot = kNoSlot;
  };
  std::size_t home(units::RequestId id) const;

  std::vector<Entry> entries_;
  std::vector<SlotIndex> free_;
  std::vector<Bucket> buckets_;  // linear probing; a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace tidegate::pool
