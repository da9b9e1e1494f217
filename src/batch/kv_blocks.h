// The KV block table of one engine: which blocks each sequence number ("slot") holds, which of them
// are shared, and which are only kept because they may be useful again (scheduling, 6).
//
// A slot is free, running (a live sequence computes in it) or retained (its sequence is gone, the
// prompt blocks it holds are cached). A block is held by any number of slots and is
//   free        held by none,
//   referenced  held by at least one running slot,
//   cached      held by retained slots only: reclaimable, so it counts as available.
// free + referenced + cached = total, always (invariant S2).
//
// Prompt blocks are found again by their hash chain (domain::PrefixChain). Published blocks form a
// trie: a block is published only behind its published predecessor in the same slot, so whoever
// holds a published block holds its whole prefix, and a prefix is found by bisection.
//
// Eviction takes the least recently used retained slot and cuts its tail first; what it gives up is
// told to the engine as Trims, which collect here until the next plan. A plan's trims are performed
// before its copies, so the source of a copy is pinned until the plan after.
//
// Source: prefix caching with reference counts and an LRU over leaves as in vLLM and SGLang, cut to
// what an engine with whole sequences (llama.cpp's seq_cp and seq_rm) can do. One owner; no
// allocation after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "batch/flat_index.h"
#include "batch/step_plan.h"
#include "domain/engine_spec.h"
#include "domain/request.h"
#include "units/quantity.h"

namespace tidegate::batch {

enum class SlotUse : std::uint8_t { kFree, kRunning, kRetained };

class KvBlocks {
 public:
  struct Options {
    units::Blocks total{0};
    domain::KvShape shape;
    std::int64_t running_slots = 0;
    std::int64_t retained_slots = 0;
    // What retained slots hold together, a block once for each of them: an engine may have to keep
    // a copy for each.
    units::Blocks max_retained = units::Blocks::max();
    units::Tokens max_context{0};
  };
  // REQUIRES: positive numbers, retained_slots and shape.per_sequence >= 0.
  explicit KvBlocks(const Options& options);

  // The longest cached prefix of a prompt, in whole blocks.
  struct Hit {
    Slot slot = -1;  // a slot that holds it; -1 = none
    std::int64_t blocks = 0;
    std::int64_t referenced = 0;  // of these, held by running slots already
  };
  // At most `limit` tokens of `chain` (may be null). O(log chain + slots).
  Hit find(const domain::PrefixChain& chain, units::Tokens limit) const;

  // The lowest free slot becomes running and shares the hit's blocks; the caller emits the Copy.
  // Lowest, so that few sequences are neighbours: an engine whose sequences have memory of their
  // own may compute only those in one pass. Takes shape.per_sequence new blocks. REQUIRES: fewer
  // than running_slots run; open_cost(hit) <= available().
  Slot open(const Hit& hit);
  // What open() takes from available(): the per-sequence blocks, the cached ones of the hit and,
  // for the time of a plan, the per-sequence ones of a retained source.
  units::Blocks open_cost(const Hit& hit) const;

  // Makes the slot hold blocks for `length` tokens, evicting cached ones where needed.
  // REQUIRES: running; growth(slot, length) <= available().
  void extend(Slot slot, units::Tokens length);
  // New blocks that extend() would take.
  units::Blocks growth(Slot slot, units::Tokens length) const;
  // Longest length that extend() can reach with `blocks` new ones.
  units::Tokens reach(Slot slot, units::Blocks blocks) const;

  // The slot's tokens at positions >= length are void: gives their blocks back and trims the
  // engine. REQUIRES: running; length covers the published blocks.
  void cut(Slot slot, units::Tokens length);

  // The first `computed` tokens of the slot are in place: full blocks of the prompt become
  // findable. Stops for good where another slot has published the same content first.
  void publish(Slot slot, const domain::PrefixChain& chain, units::Tokens computed);

  // The slot's sequence is gone. Its published blocks stay cached, as many of the first ones as may
  // be retained at all, unless another slot holds all of them; everything else is free. REQUIRES:
  // running; nothing was opened since unpin().
  void close(Slot slot);

  // Ends the pins of the plan before, and hands over the trims collected since (appends).
  void unpin();
  void take_trims(std::vector<Trim>& trims);

  // The engine can hold only this much; above it cached blocks are evicted. Clamped to
  // [referenced(), total()].
  void believe(units::Blocks limit);
  units::Blocks believed() const { return units::Blocks(limit_); }

  units::Blocks total() const { return units::Blocks(total_); }
  units::Blocks free() const { return units::Blocks(static_cast<std::int64_t>(free_.size())); }
  units::Blocks referenced() const { return units::Blocks(referenced_); }
  units::Blocks cached() const { return units::Blocks(cached_); }
  // What running slots may still take: free and reclaimable within the believed limit.
  units::Blocks available() const;
  // Blocks that more than one running slot holds, each counted once.
  units::Blocks shared() const { return units::Blocks(shared_); }
  // How many of the slot's leading blocks other running slots hold too. O(log blocks).
  std::int64_t shared_prefix(Slot slot) const;
  // Blocks that would become available if this slot closed. O(log blocks).
  units::Blocks exclusive(Slot slot) const;

  std::int64_t slots() const { return static_cast<std::int64_t>(slots_.size()); }
  SlotUse use(Slot slot) const { return at(slot).use; }
  std::int64_t running() const { return running_; }
  std::int64_t retained() const { return retained_; }
  // Changes whenever the sharing between running slots may have changed.
  std::int64_t sharing_version() const { return sharing_version_; }

  // Recounts everything from the slots' lists and compares: S1 and S2, the trie, the index. O(all).
  bool consistent() const;
  // Block numbers the slot holds, per-sequence ones first (for tests and the oracle).
  const std::vector<std::uint32_t>& held(Slot slot) const { return at(slot).blocks; }
  std::int64_t holders(std::uint32_t block) const { return blocks_[block].holders; }

 private:
  struct Block {
    std::int32_t holders = 0;
    std::int32_t running = 0;  // of these, running slots
    std::uint64_t hash = 0;
    bool published = false;
  };
  struct SlotState {
    SlotUse use = SlotUse::kFree;
    bool publishing = true;
    std::int64_t published = 0;   // leading prompt blocks in the trie
    std::int64_t pin = 0;         // leading prompt blocks that the present plan copies from here
    std::int64_t trim_keep = -1;  // pending Trim, -1 = none
    Slot older = -1;              // LRU list of retained slots
    Slot newer = -1;
    std::vector<std::uint32_t> blocks;
  };

  SlotState& at(Slot slot);
  const SlotState& at(Slot slot) const;
  std::size_t list_index(std::int64_t prompt_block) const;
  Slot holder_of(std::uint32_t block, std::size_t index) const;

  // The four ways in which a slot takes or leaves a block.
  void hold_running(std::uint32_t number);
  void drop_running(std::uint32_t number);
  void keep_retained(std::uint32_t number);
  void drop_retained(std::uint32_t number);
  void free_block(std::uint32_t number);
  void free_slot(Slot slot);

  void add_new(SlotState& state, std::int64_t count);
  void pop_running(SlotState& state, std::size_t keep);
  void make_room(std::int64_t count);
  bool evict_one();
  void empty_running(Slot slot);
  void empty_retained(Slot slot);
  void retain(Slot slot);
  void enforce_retained();
  Slot least_useful() const;
  void link_newest(Slot slot);
  void unlink(Slot slot);
  void need_trim(Slot slot, std::int64_t keep);

  bool slot_consistent(const SlotState& state) const;
  bool lists_consistent() const;

  std::int64_t total_;
  std::int64_t limit_;
  std::int64_t block_tokens_;
  std::int64_t per_sequence_;
  std::int64_t max_running_;
  std::int64_t max_retained_;
  std::int64_t max_kept_;
  std::int64_t referenced_ = 0;
  std::int64_t cached_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t running_ = 0;
  std::int64_t retained_ = 0;
  std::int64_t kept_ = 0;             // blocks of retained slots, once for each
  std::int64_t pinned_overhead_ = 0;  // per-sequence blocks of pinned retained slots
  std::int64_t sharing_version_ = 0;
  Slot oldest_ = -1;
  Slot newest_ = -1;
  std::vector<Block> blocks_;
  std::vector<SlotState> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Slot> free_slots_;  // the lowest last: it is taken next
  std::vector<Slot> pins_;
  std::vector<Slot> dirty_;  // slots with a pending Trim
  FlatIndex index_;
};

}  // namespace tidegate::batch
