#include "batch/victims.h"

#include <algorithm>

#include "units/integer.h"

namespace tidegate::batch {

using units::Instant;
using units::Nanos;
using units::Tokens;

namespace {

enum Kind : int {
  kNoPromise,
  kLost,
  kYoungPrefill,
  kProtectedWithRoom,
  kProtectedTight,
};

}  // namespace

Victims::Victims(Core& core) : core_(core) {
  const auto running = static_cast<std::size_t>(core.config.spec.limits.max_sequences);
  ranked_.reserve(running);
  chosen_.reserve(running);
}

VictimRank Victims::rank(Index index, Instant now) const {
  const Sequence& sequence = core_.sequences[index];
  cost::StepShape again;
  again.add_chunk(Tokens(0), sequence.length());
  const Nanos recompute = core_.law.guarded(again);

  Kind kind = kProtectedWithRoom;
  switch (core_.status(sequence, now,
                       sequence.decoding() ? Nanos(0) : core_.own_work(sequence, Tokens(0)))) {
    case Status::kBestEffort:
      kind = kNoPromise;
      break;
    case Status::kMissed:
    case Status::kHopeless:
      kind = kLost;
      break;
    case Status::kProtected:
    case Status::kAtRisk:
      const Instant due = sequence.promise().token_due(sequence.produced.value());
      if (due - now < recompute) kind = kProtectedTight;
      if (sequence.produced.value() == 0) kind = kYoungPrefill;
      break;
  }
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  const std::int64_t gain =
      units::multiply_divide(core_.kv.exclusive(sequence.slot).value(), kNanosPerSecond,
                             std::max<std::int64_t>(1, recompute.value()));
  return {.tier_from_below = domain::kTierCount - static_cast<int>(sequence.tier()),
          .spared = spared(sequence),
          .kind = kind,
          .minus_gain = -gain,
          .minus_order = -sequence.order};
}

bool Victims::spared(const Sequence& sequence) const {
  if (sequence.preemptions >= core_.config.max_preemptions) return true;
  return sequence.preemptions > 0 &&
         core_.counters.steps - sequence.preempted_step < core_.config.preemption_cooldown;
}

Index Victims::worst(Instant now) const {
  Index worst = SequenceTable::kNone;
  VictimRank worst_rank;
  std::int64_t candidates = 0;
  for (const Index index : core_.sequences.running()) {
    if (core_.sequences[index].aborting) continue;
    candidates += 1;
    const VictimRank its_rank = rank(index, now);
    if (worst != SequenceTable::kNone && worst_rank < its_rank) continue;
    worst = index;
    worst_rank = its_rank;
  }
  return candidates > 1 ? worst : SequenceTable::kNone;
}

std::span<const Index> Victims::make_way(Index head, const KvBlocks::Hit& hit,
                                         Reservation& reservation, Instant now) {
  ranked_.clear();
  chosen_.clear();
  for (const Index index : core_.sequences.running()) {
    const Sequence& sequence = core_.sequences[index];
    if (sequence.tier() <= core_.sequences[head].tier()) continue;
    if (sequence.aborting || spared(sequence)) continue;
    // What the head would share must stay.
    if (sequence.slot == hit.slot) continue;
    ranked_.push_back({rank(index, now), index});
  }
  std::sort(ranked_.begin(), ranked_.end(),
            [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  for (const Ranked& victim : ranked_) {
    chosen_.push_back(victim.index);
    if (!enough(head, hit, reservation)) continue;
    drop_unneeded(head, hit, reservation);
    return chosen_;
  }
  chosen_.clear();
  return chosen_;
}

// The last one made it fit; an earlier, smaller one may not be needed beside it.
void Victims::drop_unneeded(Index head, const KvBlocks::Hit& hit, Reservation& reservation) {
  for (std::size_t i = 0; i + 1 < chosen_.size();) {
    const Index victim = chosen_[i];
    chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
    if (enough(head, hit, reservation)) continue;
    chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), victim);
    ++i;
  }
}

bool Victims::enough(Index head, const KvBlocks::Hit& hit, Reservation& reservation) const {
  const auto freed = static_cast<std::int64_t>(chosen_.size());
  return core_.kv.running() - freed < core_.config.spec.limits.max_sequences &&
         reservation.fits(head, hit, chosen_);
}

}  // namespace tidegate::batch
