#include "batch/kv_blocks.h"

#include <algorithm>
#include <functional>

#include "units/check.h"
#include "units/integer.h"

namespace tidegate::batch {

using units::Blocks;
using units::Tokens;

namespace {

// The number of leading elements of [first, last) for which `holds` is true, where it is true for a
// prefix of them.
template <class Holds>
std::int64_t leading(std::int64_t first, std::int64_t last, Holds holds) {
  std::int64_t low = first;
  std::int64_t high = last;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - first;
}

std::int64_t size_of(const std::vector<std::uint32_t>& list) {
  return static_cast<std::int64_t>(list.size());
}

}  // namespace

KvBlocks::KvBlocks(const Options& options)
    : total_(options.total.value()),
      limit_(options.total.value()),
      block_tokens_(options.shape.block_tokens.value()),
      per_sequence_(options.shape.per_sequence.value()),
      max_running_(options.running_slots),
      max_retained_(options.retained_slots),
      max_kept_(options.max_retained.value()),
      blocks_(static_cast<std::size_t>(total_)),
      slots_(static_cast<std::size_t>(max_running_ + max_retained_)),
      index_(static_cast<std::size_t>(total_)) {
  TIDEGATE_CHECK(total_ > 0 && block_tokens_ > 0 && per_sequence_ >= 0);
  TIDEGATE_CHECK(max_running_ > 0 && max_retained_ >= 0);
  const std::int64_t longest =
      per_sequence_ +
      std::min(total_, units::divide_up(options.max_context.value(), block_tokens_));
  free_.reserve(blocks_.size());
  for (std::int64_t block = total_; block > 0; --block) {
    free_.push_back(static_cast<std::uint32_t>(block - 1));
  }
  free_slots_.reserve(slots_.size());
  pins_.reserve(slots_.size());
  dirty_.reserve(slots_.size());
  for (std::int64_t slot = slots(); slot > 0; --slot) {
    free_slots_.push_back(static_cast<Slot>(slot - 1));
    at(static_cast<Slot>(slot - 1)).blocks.reserve(static_cast<std::size_t>(longest));
  }
}

KvBlocks::SlotState& KvBlocks::at(Slot slot) {
  TIDEGATE_CHECK(slot >= 0 && slot < slots());
  return slots_[static_cast<std::size_t>(slot)];
}

const KvBlocks::SlotState& KvBlocks::at(Slot slot) const {
  TIDEGATE_CHECK(slot >= 0 && slot < slots());
  return slots_[static_cast<std::size_t>(slot)];
}

std::size_t KvBlocks::list_index(std::int64_t prompt_block) const {
  return static_cast<std::size_t>(per_sequence_ + prompt_block);
}

Slot KvBlocks::holder_of(std::uint32_t block, std::size_t index) const {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const auto& list = slots_[slot].blocks;
    if (index < list.size() && list[index] == block) return static_cast<Slot>(slot);
  }
  return -1;
}

KvBlocks::Hit KvBlocks::find(const domain::PrefixChain& chain, Tokens limit) const {
  if (chain == nullptr) return {};
  const std::int64_t longest = std::min(static_cast<std::int64_t>(chain->size()),
                                        std::max<std::int64_t>(limit.value(), 0) / block_tokens_);
  const auto block_at = [&](std::int64_t i) {
    return index_.find((*chain)[static_cast<std::size_t>(i)]);
  };
  Hit hit;
  hit.blocks = leading(0, longest, [&](std::int64_t i) { return block_at(i) != FlatIndex::kNone; });
  if (hit.blocks == 0) return {};
  hit.slot = holder_of(block_at(hit.blocks - 1), list_index(hit.blocks - 1));
  TIDEGATE_CHECK(hit.slot >= 0);
  const auto& list = at(hit.slot).blocks;
  hit.referenced = leading(
      0, hit.blocks, [&](std::int64_t i) { return blocks_[list[list_index(i)]].running > 0; });
  return hit;
}

Blocks KvBlocks::open_cost(const Hit& hit) const {
  const bool pins =
      hit.blocks > 0 && at(hit.slot).use == SlotUse::kRetained && at(hit.slot).pin == 0;
  return Blocks(per_sequence_ * (pins ? 2 : 1) + hit.blocks - hit.referenced);
}

void KvBlocks::free_slot(Slot slot) {
  const auto place =
      std::upper_bound(free_slots_.begin(), free_slots_.end(), slot, std::greater<>());
  free_slots_.insert(place, slot);
}

Slot KvBlocks::open(const Hit& hit) {
  TIDEGATE_CHECK(running_ < max_running_ && !free_slots_.empty());
  TIDEGATE_CHECK(open_cost(hit) <= available());
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  SlotState& state = at(slot);
  TIDEGATE_CHECK(state.use == SlotUse::kFree && state.blocks.empty());
  state.use = SlotUse::kRunning;
  state.publishing = true;
  state.published = hit.blocks;
  running_ += 1;
  sharing_version_ += 1;
  if (hit.blocks > 0) {
    SlotState& source = at(hit.slot);
    if (source.pin == 0) {
      pins_.push_back(hit.slot);
      if (source.use == SlotUse::kRetained) pinned_overhead_ += per_sequence_;
    }
    source.pin = std::max(source.pin, hit.blocks);
    if (source.use == SlotUse::kRetained) {
      unlink(hit.slot);
      link_newest(hit.slot);
    }
    for (std::int64_t i = 0; i < hit.blocks; ++i) hold_running(source.blocks[list_index(i)]);
  }
  add_new(state, per_sequence_);
  for (std::int64_t i = 0; i < hit.blocks; ++i) {
    state.blocks.push_back(at(hit.slot).blocks[list_index(i)]);
  }
  return slot;
}

Blocks KvBlocks::growth(Slot slot, Tokens length) const {
  const std::int64_t needed = per_sequence_ + units::divide_up(length.value(), block_tokens_);
  return Blocks(std::max<std::int64_t>(0, needed - size_of(at(slot).blocks)));
}

Tokens KvBlocks::reach(Slot slot, Blocks blocks) const {
  return Tokens((size_of(at(slot).blocks) - per_sequence_ + blocks.value()) * block_tokens_);
}

void KvBlocks::extend(Slot slot, Tokens length) {
  TIDEGATE_CHECK(at(slot).use == SlotUse::kRunning);
  add_new(at(slot), growth(slot, length).value());
}

void KvBlocks::cut(Slot slot, Tokens length) {
  SlotState& state = at(slot);
  TIDEGATE_CHECK(state.use == SlotUse::kRunning);
  TIDEGATE_CHECK(length.value() >= state.published * block_tokens_);
  pop_running(state, list_index(units::divide_up(length.value(), block_tokens_)));
  need_trim(slot, length.value());
}

void KvBlocks::publish(Slot slot, const domain::PrefixChain& chain, Tokens computed) {
  SlotState& state = at(slot);
  TIDEGATE_CHECK(state.use == SlotUse::kRunning);
  if (chain == nullptr) return;
  const std::int64_t full =
      std::min(static_cast<std::int64_t>(chain->size()), computed.value() / block_tokens_);
  while (state.publishing && state.published < full) {
    const std::uint64_t hash = (*chain)[static_cast<std::size_t>(state.published)];
    const std::uint32_t block = state.blocks[list_index(state.published)];
    if (index_.find(hash) != FlatIndex::kNone) {
      state.publishing = false;
      return;
    }
    index_.insert(hash, block);
    blocks_[block].hash = hash;
    blocks_[block].published = true;
    state.published += 1;
  }
}

void KvBlocks::close(Slot slot) {
  SlotState& state = at(slot);
  TIDEGATE_CHECK(state.use == SlotUse::kRunning && pins_.empty());
  sharing_version_ += 1;
  state.published = std::min(state.published, std::max<std::int64_t>(0, max_kept_ - per_sequence_));
  pop_running(state, list_index(state.published));
  if (state.published == 0 || max_retained_ == 0) {
    empty_running(slot);
    return;
  }
  const std::uint32_t last = state.blocks.back();
  if (blocks_[last].holders == 1) {
    retain(slot);
    enforce_retained();
    return;
  }
  const std::size_t index = state.blocks.size() - 1;
  empty_running(slot);
  const Slot other = holder_of(last, index);
  if (at(other).use == SlotUse::kRetained) {
    unlink(other);
    link_newest(other);
  }
}

void KvBlocks::unpin() {
  for (const Slot slot : pins_) at(slot).pin = 0;
  pins_.clear();
  pinned_overhead_ = 0;
}

void KvBlocks::take_trims(std::vector<Trim>& trims) {
  for (const Slot slot : dirty_) {
    trims.push_back({slot, Tokens(at(slot).trim_keep)});
    at(slot).trim_keep = -1;
  }
  dirty_.clear();
}

void KvBlocks::believe(Blocks limit) {
  limit_ = std::clamp(limit.value(), referenced_ + pinned_overhead_, total_);
  make_room(0);
}

Blocks KvBlocks::available() const {
  return Blocks(std::max<std::int64_t>(0, limit_ - referenced_ - pinned_overhead_));
}

std::int64_t KvBlocks::shared_prefix(Slot slot) const {
  if (shared_ == 0) return 0;
  const auto& list = at(slot).blocks;
  return leading(per_sequence_, size_of(list), [&](std::int64_t i) {
    return blocks_[list[static_cast<std::size_t>(i)]].running > 1;
  });
}

Blocks KvBlocks::exclusive(Slot slot) const {
  return Blocks(size_of(at(slot).blocks) - shared_prefix(slot));
}

void KvBlocks::hold_running(std::uint32_t number) {
  Block& block = blocks_[number];
  if (block.running == 0) {
    referenced_ += 1;
    if (block.holders > 0) cached_ -= 1;
  }
  if (block.running == 1) shared_ += 1;
  block.holders += 1;
  block.running += 1;
}

void KvBlocks::keep_retained(std::uint32_t number) {
  Block& block = blocks_[number];
  TIDEGATE_CHECK(block.running > 0);
  block.running -= 1;
  if (block.running == 1) shared_ -= 1;
  if (block.running == 0) {
    referenced_ -= 1;
    cached_ += 1;
  }
}

void KvBlocks::drop_retained(std::uint32_t number) {
  Block& block = blocks_[number];
  TIDEGATE_CHECK(block.holders > block.running);
  block.holders -= 1;
  if (block.holders > 0) return;
  cached_ -= 1;
  free_block(number);
}

void KvBlocks::drop_running(std::uint32_t number) {
  keep_retained(number);
  drop_retained(number);
}

void KvBlocks::free_block(std::uint32_t number) {
  Block& block = blocks_[number];
  if (block.published) index_.erase(block.hash, number);
  block = {};
  free_.push_back(number);
}

void KvBlocks::add_new(SlotState& state, std::int64_t count) {
  make_room(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t block = free_.back();
    free_.pop_back();
    hold_running(block);
    state.blocks.push_back(block);
  }
}

void KvBlocks::pop_running(SlotState& state, std::size_t keep) {
  while (state.blocks.size() > keep) {
    drop_running(state.blocks.back());
    state.blocks.pop_back();
  }
}

void KvBlocks::make_room(std::int64_t count) {
  while (referenced_ + cached_ + count > limit_) TIDEGATE_CHECK(evict_one());
}

// Cuts one block off the least recently used slot that has one to give.
bool KvBlocks::evict_one() {
  for (Slot slot = oldest_; slot >= 0; slot = at(slot).newer) {
    SlotState& state = at(slot);
    if (state.published <= state.pin) continue;
    drop_retained(state.blocks.back());
    state.blocks.pop_back();
    kept_ -= 1;
    state.published -= 1;
    need_trim(slot, state.published * block_tokens_);
    if (state.published == 0) empty_retained(slot);
    return true;
  }
  return false;
}

void KvBlocks::empty_running(Slot slot) {
  SlotState& state = at(slot);
  pop_running(state, 0);
  state.published = 0;
  state.use = SlotUse::kFree;
  running_ -= 1;
  free_slot(slot);
  need_trim(slot, 0);
}

void KvBlocks::empty_retained(Slot slot) {
  SlotState& state = at(slot);
  kept_ -= size_of(state.blocks);
  for (; !state.blocks.empty(); state.blocks.pop_back()) drop_retained(state.blocks.back());
  state.published = 0;
  state.use = SlotUse::kFree;
  retained_ -= 1;
  unlink(slot);
  free_slot(slot);
  need_trim(slot, 0);
}

void KvBlocks::retain(Slot slot) {
  SlotState& state = at(slot);
  for (const std::uint32_t block : state.blocks) keep_retained(block);
  state.use = SlotUse::kRetained;
  kept_ += size_of(state.blocks);
  running_ -= 1;
  retained_ += 1;
  link_newest(slot);
  need_trim(slot, state.published * block_tokens_);
}

void KvBlocks::enforce_retained() {
  while (retained_ > max_retained_ || kept_ > max_kept_) empty_retained(least_useful());
}

// A retained slot whose content others hold as well, or else the least recently used one.
Slot KvBlocks::least_useful() const {
  Slot first = -1;
  for (Slot slot = oldest_; slot >= 0; slot = at(slot).newer) {
    if (at(slot).pin > 0) continue;
    if (first < 0) first = slot;
    if (blocks_[at(slot).blocks.back()].holders > 1) return slot;
  }
  TIDEGATE_CHECK(first >= 0);
  return first;
}

void KvBlocks::link_newest(Slot slot) {
  at(slot).older = newest_;
  at(slot).newer = -1;
  if (newest_ >= 0) at(newest_).newer = slot;
  if (oldest_ < 0) oldest_ = slot;
  newest_ = slot;
}

void KvBlocks::unlink(Slot slot) {
  SlotState& state = at(slot);
  (state.older >= 0 ? at(state.older).newer : oldest_) = state.newer;
  (state.newer >= 0 ? at(state.newer).older : newest_) = state.older;
  state.older = -1;
  state.newer = -1;
}

void KvBlocks::need_trim(Slot slot, std::int64_t keep) {
  SlotState& state = at(slot);
  if (state.trim_keep < 0) dirty_.push_back(slot);
  state.trim_keep = state.trim_keep < 0 ? keep : std::min(state.trim_keep, keep);
}

bool KvBlocks::slot_consistent(const SlotState& state) const {
  const std::int64_t prompt_blocks = size_of(state.blocks) - per_sequence_;
  if (state.use == SlotUse::kFree) return state.blocks.empty() && state.published == 0;
  if (prompt_blocks < state.published) return false;
  if (state.use == SlotUse::kRetained && prompt_blocks != state.published) return false;
  for (std::int64_t i = -per_sequence_; i < prompt_blocks; ++i) {
    const std::uint32_t number = state.blocks[list_index(i)];
    const Block& block = blocks_[number];
    const bool in_trie = i >= 0 && i < state.published;
    if (block.published != in_trie) return false;
    if (in_trie && index_.find(block.hash) != number) return false;
    if (!in_trie && block.holders != 1) return false;
  }
  return true;
}

bool KvBlocks::lists_consistent() const {
  std::int64_t listed = 0;
  std::int64_t kept = 0;
  for (Slot slot = oldest_; slot >= 0; slot = at(slot).newer) {
    if (at(slot).use != SlotUse::kRetained) return false;
    listed += 1;
    kept += size_of(at(slot).blocks);
  }
  return listed == retained_ && kept == kept_ && kept_ <= max_kept_ && retained_ <= max_retained_ &&
         running_ <= max_running_ &&
         running_ + retained_ + static_cast<std::int64_t>(free_slots_.size()) == slots();
}

bool KvBlocks::consistent() const {
  std::vector<Block> count(blocks_.size());
  for (const SlotState& state : slots_) {
    if (!slot_consistent(state)) return false;
    for (const std::uint32_t number : state.blocks) {
      count[number].holders += 1;
      if (state.use == SlotUse::kRunning) count[number].running += 1;
    }
  }
  std::int64_t held[3] = {0, 0, 0};  // free, cached, referenced
  std::int64_t shared = 0;
  std::int64_t published = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (count[i].holders != blocks_[i].holders) return false;
    if (count[i].running != blocks_[i].running) return false;
    held[count[i].running > 0 ? 2 : (count[i].holders > 0 ? 1 : 0)] += 1;
    shared += count[i].running > 1 ? 1 : 0;
    published += blocks_[i].published ? 1 : 0;
  }
  return held[0] == free().value() && held[1] == cached_ && held[2] == referenced_ &&
         shared == shared_ && published == static_cast<std::int64_t>(index_.size()) &&
         referenced_ + cached_ <= limit_ && lists_consistent();
}

}  // namespace tidegate::batch
