#include "pool/queueing/waiting_room.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

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
      share_slack_(share_slack),
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

void WaitingRoom::change_weights(const std::vector<std::int64_t>& weights) {
  const std::size_t tenants = of_tenant_.size();
  TIDEGATE_CHECK(weights.size() >= tenants);
  WaitingRoom fresh(by_model_.size(), weights, 0, share_slack_);
  fresh.nodes_ = std::move(nodes_);
  fresh.shares_.carry_over(shares_, [&](LaneIndex index) -> std::optional<LaneIndex> {
    const Lane& lane = fresh.lanes_[index];
    if (lane.tenant >= tenants) return std::nullopt;
    return lane_of(lane.model, lane.tenant, lane.band);
  });
  const auto renumbered = [&](LaneIndex index) {
    const Lane& lane = lanes_[index];
    return fresh.lane_of(lane.model, lane.tenant, lane.band);
  };
  for (LaneIndex i = 0; i < lanes_.size(); ++i) fresh.lanes_[renumbered(i)] = lanes_[i];
  for (std::size_t model = 0; model < by_model_.size(); ++model) {
    fresh.by_model_[model].waiting = by_model_[model].waiting;
    for (std::size_t band = 0; band < kBandCount; ++band) {
      const auto& active = by_model_[model].active[band];
      std::transform(active.begin(), active.end(),
                     std::back_inserter(fresh.by_model_[model].active[band]), renumbered);
    }
  }
  std::copy(of_tenant_.begin(), of_tenant_.end(), fresh.of_tenant_.begin());
  std::copy(blocked_.begin(), blocked_.end(), fresh.blocked_.begin());
  fresh.waiting_ = waiting_;
  *this = std::move(fresh);
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
    forget_least(lane, shares_.served(index));
    lane.position = active.size();
    active.push_back(index);
  }
  lane.queue.insert(nodes_, slot, key, work);
  if (lane.first == kNoSlot || key < lane.first_key) {
    lane.first = slot;
    lane.first_key = key;
  }
  waiting_ += 1;
  by_model_[lane.model].waiting += 1;
  of_tenant_[lane.tenant] += 1;
}

void WaitingRoom::leave(SlotIndex slot, LaneIndex index) {
  Lane& lane = lanes_[index];
  if (lane.first == slot) {
    lane.first = lane.queue.after(nodes_, lane.first_key);
    if (lane.first != kNoSlot) lane.first_key = nodes_[lane.first].key;
  }
  lane.queue.erase(nodes_, slot);
  waiting_ -= 1;
  by_model_[lane.model].waiting -= 1;
  of_tenant_[lane.tenant] -= 1;
  TIDEGATE_CHECK(waiting_ >= 0 && of_tenant_[lane.tenant] >= 0);
  if (!lane.queue.empty()) return;
  shares_.go_idle(index, group(lane));
  forget_least(lane, shares_.served(index));
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

void WaitingRoom::set_blocked(std::size_t tenant, bool blocked) {
  if (this->blocked(tenant) == blocked) return;
  blocked_[tenant] = blocked ? 1 : 0;
  for (ModelRoom& room : by_model_) room.least_known = false;
}

void WaitingRoom::charge(LaneIndex index, units::Nanos cost) {
  const std::int64_t before = shares_.served(index);
  shares_.charge(index, cost);
  forget_least(lanes_[index], std::min(before, shares_.served(index)));
}

// A lane that has, or had, been served so much changed: only one at the bottom moves the least.
void WaitingRoom::forget_least(const Lane& lane, std::int64_t served) {
  ModelRoom& room = by_model_[lane.model];
  if (lane.band == Band::kShare && served <= room.least) room.least_known = false;
}

std::int64_t WaitingRoom::least_served(std::size_t model) const {
  const ModelRoom& room = by_model_[model];
  if (room.least_known) return room.least;
  room.least = kNobody;
  for (const LaneIndex lane : active(model, Band::kShare)) {
    if (blocked_[lanes_[lane].tenant] == 0) room.least = std::min(room.least, shares_.served(lane));
  }
  room.least_known = true;
  return room.least;
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

// Of `work`, which is due before one of `lane` and waits in `other` of the same tier, as much as
// counts.
Work WaitingRoom::counted(const Work& work, LaneIndex other, LaneIndex lane) const {
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

Work WaitingRoom::ahead_of(const OrderKey& key, LaneIndex index) const {
  const Lane& own = lanes_[index];
  const std::int64_t least = least_served(own.model);
  const Tier own_tier = tier(own, index, least);
  Work work;
  SumSearch search;
  std::array<LaneIndex, SumSearch::kMost> searched{};
  const auto finish_search = [&] {
    std::size_t next = 0;
    for (const Work& sum : search.run(nodes_, key)) {
      work += counted(sum, searched[next++], index);
    }
  };
  const auto add = [&](LaneIndex other) {
    const Tier other_tier = tier(lanes_[other], other, least);
    if (other_tier > own_tier || blocked_[lanes_[other].tenant] != 0) return;
    if (other_tier < own_tier) {
      work += lanes_[other].queue.total(nodes_);
      return;
    }
    searched[search.count()] = other;
    search.add(lanes_[other].queue);
    if (search.count() == SumSearch::kMost) finish_search();
  };
  for (const auto& list : by_model_[own.model].active) {
    for (const LaneIndex other : list) add(other);
  }
  finish_search();
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
  walk.room_ = this;
  walk.model_ = model;
  walk.least_ = least_served(model);
  walk.enter(best_effort_first ? Tier::kBestEffort : Tier::kGuaranteed);
}

bool WaitingRoom::Walk::before(const Cursor& a, const Cursor& b) {
  return a.served != b.served ? a.served < b.served : a.key < b.key;
}

void WaitingRoom::Walk::enter(Tier tier) {
  constexpr std::array<Band, domain::kTierCount> kBandOf{Band::kGuaranteed, Band::kShare,
                                                         Band::kShare, Band::kBestEffort};
  tier_ = tier;
  last_ = kNone;
  cursors_.clear();
  for (const LaneIndex index : room_->active(model_, kBandOf[static_cast<std::size_t>(tier)])) {
    const Lane& lane = room_->lanes_[index];
    if (room_->blocked_[lane.tenant] != 0 || room_->tier(lane, index, least_) != tier) continue;
    const std::int64_t served = tier == Tier::kBestEffort ? room_->shares_.served(index) : 0;
    cursors_.push_back({lane.first_key, lane.first, index, served});
  }
}

void WaitingRoom::Walk::advance(std::size_t index) {
  Cursor& cursor = cursors_[index];
  cursor.slot = room_->lanes_[cursor.lane].queue.after(room_->nodes_, cursor.key);
  if (cursor.slot == kNoSlot) {
    cursor = cursors_.back();
    cursors_.pop_back();
  } else {
    cursor.key = room_->nodes_[cursor.slot].key;
  }
}

SlotIndex WaitingRoom::Walk::next() {
  if (last_ != kNone) advance(last_);
  while (cursors_.empty() && tier_ != Tier::kBestEffort) {
    enter(static_cast<Tier>(static_cast<int>(tier_) + 1));
  }
  last_ = kNone;
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    if (last_ == kNone || before(cursors_[i], cursors_[last_])) last_ = i;
  }
  return last_ == kNone ? kNoSlot : cursors_[last_].slot;
}

void WaitingRoom::Walk::skip_to_best_effort() {
  if (tier_ != Tier::kBestEffort) enter(Tier::kBestEffort);
}

}  // namespace tidegate::pool
