#include "batch/reservation.h"

#include <algorithm>

#include "units/integer.h"

namespace tidegate::batch {

using units::Blocks;
using units::Tokens;

Reservation::Reservation(Core& core) : core_(core) {
  residents_.reserve(static_cast<std::size_t>(core.config.spec.limits.max_sequences) + 1);
}

bool Reservation::fits(Index candidate, const KvBlocks::Hit& hit, std::span<const Index> without) {
  residents_.clear();
  cost::Resident sum;
  const auto add = [&](Sequence& sequence, std::int64_t shared_blocks) {
    residents_.push_back(resident(sequence, shared_blocks));
    const cost::Resident& added = residents_.back();
    sum.occupied += added.occupied;
    sum.remaining.mean += added.remaining.mean;
    sum.remaining.variance =
        units::add_saturating(sum.remaining.variance, added.remaining.variance);
  };
  for (const Index index : core_.sequences.running()) {
    if (!without.empty() && std::find(without.begin(), without.end(), index) != without.end()) {
      continue;
    }
    add(core_.sequences[index], shared_prefix(core_.sequences[index]));
  }
  if (residents_.empty()) return true;
  add(core_.sequences[candidate], hit.referenced);

  const Blocks believed = core_.kv.believed();
  const Blocks usable = believed - units::scaled(believed, core_.config.kv_watermark);
  const Tokens room((usable - core_.kv.shared()).value() * core_.block_tokens());
  // Two bounds that need no sorting: what is there now, and everybody at its end at once.
  if (sum.occupied > room) return false;
  const std::int64_t z = core_.config.z_thousandths;
  if (cost::predicted_peak({&sum, 1}, z) <= room) return true;
  return cost::predicted_peak(residents_, z) <= room;
}

// Half a block stands for the unused rest of the last one.
cost::Resident Reservation::resident(Sequence& sequence, std::int64_t shared_blocks) const {
  const std::int64_t block = core_.block_tokens();
  const std::int64_t fixed = core_.config.spec.kv.per_sequence.value() * block + block / 2;
  return {.occupied = sequence.length() + Tokens(fixed - shared_blocks * block),
          .remaining = core_.remaining(sequence)};
}

std::int64_t Reservation::shared_prefix(Sequence& sequence) const {
  if (sequence.sharing_version != core_.kv.sharing_version()) {
    sequence.shared_prefix = core_.kv.shared_prefix(sequence.slot);
    sequence.sharing_version = core_.kv.sharing_version();
  }
  return sequence.shared_prefix;
}

}  // namespace tidegate::batch
