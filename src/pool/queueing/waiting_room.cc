#include "pool/queueing/waiting_room.h"

#include <algorithm>
#include <limits>

#include "units/check.h"

namespace tidegate::pool {

using domain::Tier;

namespace {

constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> weights_of_lanes(std::size_t models,
                                           const std::vector<std::int64_t>& weights) {
  std::vector<std::int64_t> result;
  result.reserve(models * weights.size() * kBandCount);
  for (std::size_t model = 0; model < models; ++model) {
    for (const std::int64_t weight : weights) result.insert(result.end(), kBandCount, weight);
  }
  return result;
}

}  // namespace

WaitingRoom::WaitingRoom(std::size_t models, const std::vector<std::int64_t>& weights,
                         std::size_t slots, units::Nanos share_slack)
    : nodes_(slots),
      lanes_(models * weights.size() * kBandCount),
      by_model_(models),
      of_tenant_(weights.size(), 0),
      blocked_(weights.size(), 0),
      shares_(weights_of_lanes(models, weights), models * kBandCount, share_slack) {
  for (auto& group : by_model_) {
    for (auto& list : group.active) list.reserve(weights.size());
  }
  for (LaneIndex index = 0; index < lanes_.size(); ++index) {  // the inverse of lane_of()
    const std::size_t of_model = index / kBandCount;
    lanes_[index].model = static_cast<std::uint32_t>(of_model / weights.size());
    lanes_[index].tenant = static_cast<std::uint32_t>(of_model % weights.size());
    lanes_[index].band = static_cast<Band>(index % kBandCount);
  }
}

LaneIndex WaitingRoom::lane_of(std::size_t model, std::size_t tenant, Band band) const {
  return static_cast<LaneIndex>((model * of_tenant_.size() + tenant) * kBandCount +
                                static_cast<std::size_t>(band));
}

std::size_t WaitingRoom::group(const Lane& lane) const {
  return lane.model * kBandCount + static_cast<std::size_t>(lane.band);
}

void WaitingRoom::enter(SlotIndex slot, LaneIndex index, const OrderKey& key, const Work& work) {
  Lane& lane = lanes_[index];
  auto& active = by_model_[lane.model].active[static_cast<std::size_t>(lane.band)];
  if (lane.queue.empty()) {
    shares_.wake(index, group(lane), active);
    lane.position = active.size();
    active.push_back(index);
  }
  lane.queue.insert(nodes_, slot, key, work);
  if (lane.first == kNoSlot || key < nodes_[lane.first].key) lane.first = slot;
  waiting_ += 1;
  by_model_[lane.model].waiting += 1;
  of_tenant_[lane.tenant] += 1;
}

void WaitingRoom::leave(SlotIndex slot, LaneIndex index) {
  Lane& lane = lanes_[index];
  if (lane.first == slot) lane.first = lane.queue.after(nodes_, nodes_[slot].key);
  lane.queue.erase(nodes_, slot);
  waiting_ -= 1;
  by_model_[lane.model].waiting -= 1;
  of_tenant_[lane.tenant] -= 1;
  TIDEGATE_CHECK(waiting_ >= 0 && of_tenant_[lane.tenant] >= 0);
  if (!lane.queue.empty()) return;
  shares_.go_idle(index, group(lane));
  auto& active = by_model_[lane.model].active[static_cast<std::size_t>(lane.band)];
  active[lane.position] = active.back();
  lanes_[active[lane.position]].position = lane.position;
  active.pop_back();
}

std::int64_t WaitingRoom::waiting_in(LaneIndex lane) const {
  return lanes_[lane].queue.total(nodes_).requests;
}

std::span<const LaneIndex> WaitingRoom::active(std::size_t model, Band band) const {
  return by_model_[model].active[static_cast<std::size_t>(band)];
}

std::int64_t WaitingRoom::least_served(std::size_t model) const {
  std::int64_t least = kNobody;
  for (const LaneIndex lane : active(model, Band::kShare)) {
    if (blocked_[lanes_[lane].tenant] == 0) least = std::min(least, shares_.served(lane));
  }
  return least;
}

Tier WaitingRoom::tier(const Lane& lane, LaneIndex index, std::int64_t least) const {
  switch (lane.band) {
    case Band::kGuaranteed:
      return Tier::kGuaranteed;
    case Band::kBestEffort:
      return Tier::kBestEffort;
    case Band::kShare:
      break;
  }
  const bool within = least == kNobody || shares_.within(shares_.served(index), least);
  return within ? Tier::kWithinShare : Tier::kAboveShare;
}

Tier WaitingRoom::tier(LaneIndex index) const {
  const Lane& lane = lanes_[index];
  return tier(lane, index, least_served(lane.model));
}

// The part of `other`, a lane of the same tier as `lane`, that goes before `slot`.
Work WaitingRoom::ahead_in(LaneIndex other, SlotIndex slot, LaneIndex lane) const {
  Work work = lanes_[other].queue.before(nodes_, nodes_[slot].key);
  if (other == lane || lanes_[other].band != Band::kShare) return work;
  const std::int64_t fair = shares_.allowance(other, lane).value();
  const std::int64_t all = work.price.value();
  if (all <= fair) return work;
  const auto part = [&](std::int64_t of) { return units::multiply_divide(of, fair, all); };
  return {.requests = part(work.requests),
          .prefill = units::Tokens(part(work.prefill.value())),
          .attention = part(work.attention),
          .memory = units::Tokens(part(work.memory.value())),
          .price = units::Nanos(fair)};
}

Work WaitingRoom::ahead_of(SlotIndex slot, LaneIndex index) const {
  const Lane& own = lanes_[index];
  const std::int64_t least = least_served(own.model);
  const Tier own_tier = tier(own, index, least);
  Work work;
  for (const auto& list : by_model_[own.model].active) {
    for (const LaneIndex other : list) {
      const Tier other_tier = tier(lanes_[other], other, least);
      if (other_tier > own_tier || blocked_[lanes_[other].tenant] != 0) continue;
      work +=
          other_tier < own_tier ? lanes_[other].queue.total(nodes_) : ahead_in(other, slot, index);
    }
  }
  return work;
}

SlotIndex WaitingRoom::last_best_effort(std::size_t model) const {
  const auto longest = [&](std::size_t of, SlotIndex best, std::int64_t& most) {
    for (const LaneIndex lane : active(of, Band::kBestEffort)) {
      if (waiting_in(lane) <= most) continue;
      most = waiting_in(lane);
      best = lanes_[lane].queue.last(nodes_);
    }
    return best;
  };
  std::int64_t most = 0;
  SlotIndex victim = longest(model, kNoSlot, most);
  for (std::size_t other = 0; victim == kNoSlot && other < by_model_.size(); ++other) {
    victim = longest(other, kNoSlot, most);
  }
  return victim;
}

SlotIndex WaitingRoom::pick(std::size_t model, std::uint64_t turn) const {
  const ModelRoom& room = by_model_[model];
  if (room.waiting == 0) return kNoSlot;
  auto rank = static_cast<std::int64_t>(turn % static_cast<std::uint64_t>(room.waiting));
  for (const auto& list : room.active) {
    for (const LaneIndex lane : list) {
      const std::int64_t here = waiting_in(lane);
      if (rank < here) return lanes_[lane].queue.at(nodes_, rank);
      rank -= here;
    }
  }
  return kNoSlot;
}

void WaitingRoom::start(Walk& walk, std::size_t model, bool best_effort_first) const {
  const std::int64_t least = least_served(model);
  walk.room_ = this;
  walk.cursors_.clear();
  for (const auto& list : by_model_[model].active) {
    for (const LaneIndex index : list) {
      const Lane& lane = lanes_[index];
      if (blocked_[lane.tenant] != 0) continue;
      const Tier of_lane = tier(lane, index, least);
      if (best_effort_first && of_lane != Tier::kBestEffort) continue;
      const bool by_service = of_lane == Tier::kBestEffort;
      walk.cursors_.push_back({lane.first, index, of_lane, by_service ? shares_.served(index) : 0});
    }
  }
}

bool WaitingRoom::Walk::before(const Cursor& a, const Cursor& b) const {
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.served != b.served) return a.served < b.served;
  return room_->nodes_[a.slot].key < room_->nodes_[b.slot].key;
}

SlotIndex WaitingRoom::Walk::next() {
  std::size_t best = cursors_.size();
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    if (best == cursors_.size() || before(cursors_[i], cursors_[best])) best = i;
  }
  if (best == cursors_.size()) return kNoSlot;
  Cursor& cursor = cursors_[best];
  const SlotIndex slot = cursor.slot;
  cursor.slot = room_->lanes_[cursor.lane].queue.after(room_->nodes_, room_->nodes_[slot].key);
  if (cursor.slot == kNoSlot) {
    cursor = cursors_.back();
    cursors_.pop_back();
  }
  return slot;
}

void WaitingRoom::Walk::skip_to_best_effort() {
  std::erase_if(cursors_, [](const Cursor& c) { return c.tier != Tier::kBestEffort; });
}

}  // namespace tidegate::pool
