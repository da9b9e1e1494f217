#include "batch/kv_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "fake_engine.h"
#include "units/prng.h"

namespace tidegate::batch::testing {
namespace {

using units::Blocks;
using units::Prng;
using units::Tokens;

constexpr std::int64_t kBlockTokens = 4;

// The block table written down in the most literal way: every count is recounted from the slots,
// every search looks at everything. It follows the rules of kv_blocks.h, not its code.
class NaiveTable {
 public:
  struct NaiveSlot {
    SlotUse use = SlotUse::kFree;
    std::vector<int> blocks;
    std::size_t published = 0;
    bool publishing = true;
    std::size_t pin = 0;
    long used = 0;
  };

  explicit NaiveTable(const KvBlocks::Options& options)
      : total_(static_cast<std::size_t>(options.total.value())),
        limit_(total_),
        retained_max_(static_cast<std::size_t>(options.retained_slots)),
        kept_max_(static_cast<std::size_t>(options.max_retained.value())),
        fixed_(static_cast<std::size_t>(options.shape.per_sequence.value())),
        slots(static_cast<std::size_t>(options.running_slots + options.retained_slots)) {}

  std::size_t count(bool running_wanted) const {
    std::set<int> running;
    std::set<int> all;
    for (const NaiveSlot& slot : slots) {
      all.insert(slot.blocks.begin(), slot.blocks.end());
      if (slot.use == SlotUse::kRunning) running.insert(slot.blocks.begin(), slot.blocks.end());
    }
    return running_wanted ? running.size() : all.size() - running.size();
  }
  std::size_t referenced() const { return count(true); }
  std::size_t cached() const { return count(false); }
  std::size_t free() const { return total_ - referenced() - cached(); }
  std::size_t holders(int block, bool running_only) const {
    std::size_t n = 0;
    for (const NaiveSlot& slot : slots) {
      if (running_only && slot.use != SlotUse::kRunning) continue;
      n += static_cast<std::size_t>(std::count(slot.blocks.begin(), slot.blocks.end(), block));
    }
    return n;
  }

  std::size_t longest_prefix(const std::vector<std::uint64_t>& chain, std::size_t limit) const {
    std::size_t n = 0;
    while (n < std::min(chain.size(), limit / kBlockTokens) && index_.count(chain[n]) > 0) ++n;
    return n;
  }

  void open(std::size_t slot, std::size_t from, std::size_t prefix) {
    NaiveSlot& opened = slots[slot];
    opened = {.use = SlotUse::kRunning,
              .blocks = {},
              .published = prefix,
              .publishing = true,
              .pin = 0,
              .used = 0};
    std::vector<int> shared;
    if (prefix > 0) {
      NaiveSlot& source = slots[from];
      source.pin = std::max(source.pin, prefix);
      source.used = ++clock_;
      shared.assign(source.blocks.begin() + static_cast<long>(fixed_),
                    source.blocks.begin() + static_cast<long>(fixed_ + prefix));
      opened.blocks = shared;  // held while room is made
    }
    std::vector<int> fixed;
    for (std::size_t i = 0; i < fixed_; ++i) {
      make_room();
      fixed.push_back(++next_block_);
      opened.blocks.push_back(next_block_);
    }
    opened.blocks = fixed;
    opened.blocks.insert(opened.blocks.end(), shared.begin(), shared.end());
  }
  void extend(std::size_t slot, std::size_t tokens) {
    const std::size_t wanted = fixed_ + (tokens + kBlockTokens - 1) / kBlockTokens;
    while (slots[slot].blocks.size() < wanted) {
      make_room();
      slots[slot].blocks.push_back(++next_block_);
    }
  }
  void publish(std::size_t slot, const std::vector<std::uint64_t>& chain, std::size_t tokens) {
    NaiveSlot& s = slots[slot];
    const std::size_t full = std::min(chain.size(), tokens / kBlockTokens);
    while (s.publishing && s.published < full) {
      if (index_.count(chain[s.published]) > 0) {
        s.publishing = false;
        break;
      }
      index_[chain[s.published]] = s.blocks[fixed_ + s.published];
      s.published += 1;
    }
  }
  void cut(std::size_t slot, std::size_t tokens) {
    slots[slot].blocks.resize(
        std::min(slots[slot].blocks.size(), fixed_ + (tokens + kBlockTokens - 1) / kBlockTokens));
  }
  void close(std::size_t slot) {
    NaiveSlot& s = slots[slot];
    s.published = std::min(s.published, kept_max_ < fixed_ ? 0 : kept_max_ - fixed_);
    s.blocks.resize(fixed_ + s.published);
    forget();
    const int last = s.published > 0 ? s.blocks.back() : 0;
    const bool stays = s.published > 0 && retained_max_ > 0 && holders(last, false) == 1;
    if (!stays) {
      s = {};
      forget();
      if (last == 0 || retained_max_ == 0) return;
      for (NaiveSlot& other : slots) {
        if (std::count(other.blocks.begin(), other.blocks.end(), last) == 0) continue;
        other.used = ++clock_;  // the first holder
        return;
      }
      return;
    }
    s.use = SlotUse::kRetained;
    s.used = ++clock_;
    while (retained().size() > retained_max_ || kept() > kept_max_) drop_one();
    forget();
  }
  void unpin() {
    for (NaiveSlot& slot : slots) slot.pin = 0;
  }
  void believe(std::size_t limit) {
    std::size_t pinned = 0;
    for (const NaiveSlot& slot : slots) {
      if (slot.use == SlotUse::kRetained && slot.pin > 0) pinned += fixed_;
    }
    limit_ = std::clamp(limit, referenced() + pinned, total_);
    while (referenced() + cached() > limit_) evict();
  }
  std::size_t limit() const { return limit_; }

 private:
  std::vector<std::size_t> retained() const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].use == SlotUse::kRetained) list.push_back(i);
    }
    std::sort(list.begin(), list.end(),
              [&](std::size_t a, std::size_t b) { return slots[a].used < slots[b].used; });
    return list;
  }
  std::size_t kept() const {
    std::size_t sum = 0;
    for (const std::size_t slot : retained()) sum += slots[slot].blocks.size();
    return sum;
  }
  void make_room() {
    while (referenced() + cached() + 1 > limit_) evict();
  }
  void evict() {
    for (const std::size_t slot : retained()) {
      NaiveSlot& s = slots[slot];
      if (s.published <= s.pin) continue;
      s.blocks.pop_back();
      s.published -= 1;
      if (s.published == 0) s = {};
      forget();
      return;
    }
    FAIL() << "nothing to evict";
  }
  void drop_one() {
    std::size_t chosen = slots.size();
    for (const std::size_t slot : retained()) {
      if (slots[slot].pin > 0) continue;
      if (chosen == slots.size()) chosen = slot;
      if (holders(slots[slot].blocks.back(), false) > 1) {
        chosen = slot;
        break;
      }
    }
    slots[chosen] = {};
    forget();
  }
  // Hashes whose block nobody holds any more.
  void forget() {
    for (auto it = index_.begin(); it != index_.end();) {
      it = holders(it->second, false) == 0 ? index_.erase(it) : std::next(it);
    }
  }

  std::size_t total_;
  std::size_t limit_;
  std::size_t retained_max_;
  std::size_t kept_max_;
  std::size_t fixed_;
  std::map<std::uint64_t, int> index_;
  int next_block_ = 0;
  long clock_ = 0;

 public:
  std::vector<NaiveSlot> slots;
};

struct Live {
  domain::PrefixChain chain;
  std::int64_t prompt = 0;
  std::int64_t computed = 0;
};

// Applies one random operation to both tables and compares everything they say.
class Pair {
 public:
  Pair(std::uint64_t seed, KvBlocks::Options options)
      : prng_(seed), options_(options), table_(options), naive_(options) {}

  void operation() {
    const auto dice = prng_.between(1, 100);
    if (dice <= 30) open();
    if (dice > 30 && dice <= 70) extend();
    if (dice > 70 && dice <= 88) close();
    if (dice > 88 && dice <= 93) cut();
    if (dice > 93 && dice <= 97) unpin();
    if (dice > 97) believe();
  }

  void compare() {
    ASSERT_EQ(size(table_.free().value()), naive_.free());
    ASSERT_EQ(size(table_.cached().value()), naive_.cached());
    ASSERT_EQ(size(table_.referenced().value()), naive_.referenced());
    ASSERT_EQ(size(table_.believed().value()), naive_.limit());
    for (Slot slot = 0; slot < table_.slots(); ++slot) {
      const auto& model = naive_.slots[size(slot)];
      ASSERT_EQ(table_.use(slot), model.use);
      ASSERT_EQ(table_.held(slot).size(), model.blocks.size());
      for (std::size_t i = 0; i < model.blocks.size(); ++i) {
        ASSERT_EQ(size(table_.holders(table_.held(slot)[i])),
                  naive_.holders(model.blocks[i], false));
      }
      if (model.use != SlotUse::kRunning) continue;
      const auto shared = std::count_if(model.blocks.begin(), model.blocks.end(),
                                        [&](int block) { return naive_.holders(block, true) > 1; });
      ASSERT_EQ(table_.shared_prefix(slot), shared);
    }
  }
  bool consistent() const { return table_.consistent(); }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  Live draw() {
    Shape shape{.prompt = prng_.between(1, 60)};
    shape.family = static_cast<std::uint64_t>(prng_.between(1, 3));
    shape.shared = prng_.between(0, 3) > 0 ? prng_.between(0, shape.prompt) : 0;
    return {chain_of(prompt_of(next_id_++, shape), kBlockTokens), shape.prompt, 0};
  }
  void open() {
    if (table_.running() >= options_.running_slots) return;
    Live live = draw();
    const KvBlocks::Hit hit = table_.find(live.chain, Tokens(live.prompt - 1));
    const std::size_t expected =
        live.chain ? naive_.longest_prefix(*live.chain, size(live.prompt - 1)) : 0;
    ASSERT_EQ(size(hit.blocks), expected);
    if (table_.open_cost(hit) > table_.available()) return;
    const Slot slot = table_.open(hit);
    naive_.open(size(slot), size(std::max<Slot>(hit.slot, 0)), size(hit.blocks));
    live.computed = hit.blocks * kBlockTokens;
    live_[slot] = live;
  }
  Slot pick() {
    if (live_.empty()) return -1;
    auto it = live_.begin();
    std::advance(it, prng_.between(0, static_cast<std::int64_t>(live_.size()) - 1));
    return it->first;
  }
  void extend() {
    const Slot slot = pick();
    if (slot < 0) return;
    Live& live = live_[slot];
    const Tokens wanted(live.computed + prng_.between(1, 12));
    const Tokens reach = std::min(wanted, table_.reach(slot, table_.available()));
    if (reach.value() <= live.computed) return;
    table_.extend(slot, reach);
    naive_.extend(size(slot), size(reach.value()));
    if (prng_.between(0, 5) == 0) return;  // the step failed: nothing computed
    live.computed = reach.value();
    table_.publish(slot, live.chain, reach);
    if (live.chain) naive_.publish(size(slot), *live.chain, size(live.computed));
  }
  void cut() {
    const Slot slot = pick();
    if (slot < 0) return;
    table_.cut(slot, Tokens(live_[slot].computed));
    naive_.cut(size(slot), size(live_[slot].computed));
  }
  void close() {
    const Slot slot = pick();
    if (slot < 0) return;
    unpin();
    table_.close(slot);
    naive_.close(size(slot));
    live_.erase(slot);
  }
  void unpin() {
    table_.unpin();
    naive_.unpin();
  }
  void believe() {
    const std::int64_t limit = prng_.between(1, options_.total.value());
    table_.believe(Blocks(limit));
    naive_.believe(size(limit));
  }

  Prng prng_;
  KvBlocks::Options options_;
  KvBlocks table_;
  NaiveTable naive_;
  std::map<Slot, Live> live_;
  std::uint64_t next_id_ = 1;
};

KvBlocks::Options draw_options(Prng& prng) {
  return {.total = Blocks(prng.between(10, 60)),
          .shape = {.block_tokens = Tokens(kBlockTokens),
                    .per_sequence = Blocks(prng.between(0, 3) == 0 ? 1 : 0)},
          .running_slots = prng.between(1, 6),
          .retained_slots = prng.between(0, 4),
          .max_retained = Blocks(prng.between(0, 1) == 0 ? 1'000 : prng.between(0, 20)),
          .max_context = Tokens(400)};
}

void run_history(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng prng(seed);
  Pair pair(seed, draw_options(prng));
  for (int i = 0; i < 2'000 && !::testing::Test::HasFailure(); ++i) {
    pair.operation();
    pair.compare();
    EXPECT_TRUE(i % 50 != 0 || pair.consistent());
  }
}

// The block table and the naive model agree on every count, slot and search after each of 10^5
// random operations.
TEST(KvBlocks, AgreesWithNaiveModel) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) run_history(seed);
}

KvBlocks small_table(std::int64_t retained) {
  return KvBlocks({.total = Blocks(8),
                   .shape = {.block_tokens = Tokens(kBlockTokens), .per_sequence = Blocks(0)},
                   .running_slots = 3,
                   .retained_slots = retained,
                   .max_context = Tokens(32)});
}

domain::PrefixChain chain(std::vector<std::uint64_t> hashes) {
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(hashes));
}

// Opens a slot, computes `tokens` of a prompt with this chain and publishes them.
Slot computed(KvBlocks& table, const domain::PrefixChain& prompt, std::int64_t tokens) {
  const Slot slot = table.open({});
  table.extend(slot, Tokens(tokens));
  table.publish(slot, prompt, Tokens(tokens));
  return slot;
}

// Cached blocks go least recently used first, and of one prompt the tail first.
TEST(KvBlocks, EvictsLeastRecentlyUsedTailFirst) {
  KvBlocks table = small_table(2);
  const auto first = chain({1, 2, 3});
  const auto second = chain({4, 5, 6});
  const Slot a = computed(table, first, 12);
  const Slot b = computed(table, second, 12);
  table.close(a);
  table.close(b);
  ASSERT_EQ(table.cached(), Blocks(6));
  const Slot c = table.open({});
  table.extend(c, Tokens(16));  // 2 free, 2 to evict
  EXPECT_EQ(table.find(first, Tokens(100)).blocks, 1);
  EXPECT_EQ(table.find(second, Tokens(100)).blocks, 3);
  std::vector<Trim> trims;
  table.take_trims(trims);
  ASSERT_EQ(trims.size(), 2U);  // `b` only lost what was not published: nothing
  EXPECT_EQ(trims[0].slot, a);
  EXPECT_EQ(trims[0].keep, Tokens(4));
}

// A hit on the older prompt makes it the younger one.
TEST(KvBlocks, HitRefreshesAge) {
  KvBlocks table = small_table(2);
  const auto first = chain({1, 2, 3});
  const auto second = chain({4, 5, 6});
  table.close(computed(table, first, 12));
  table.close(computed(table, second, 12));
  const Slot again = table.open(table.find(first, Tokens(4)));
  table.unpin();
  table.close(again);
  const Slot c = table.open({});
  table.extend(c, Tokens(16));
  EXPECT_EQ(table.find(first, Tokens(100)).blocks, 3);
  EXPECT_EQ(table.find(second, Tokens(100)).blocks, 1);
}

// A block that two running sequences share is held until both are gone, and counted once.
TEST(KvBlocks, SharedBlocksLiveAsLongAsTheirLastHolder) {
  KvBlocks table = small_table(0);
  const auto prompt = chain({1, 2});
  const Slot a = computed(table, prompt, 8);
  const KvBlocks::Hit hit = table.find(prompt, Tokens(8));
  ASSERT_EQ(hit.blocks, 2);
  ASSERT_EQ(hit.referenced, 2);
  ASSERT_EQ(table.open_cost(hit), Blocks(0));
  const Slot b = table.open(hit);
  table.unpin();
  EXPECT_EQ(table.referenced(), Blocks(2));
  EXPECT_EQ(table.shared(), Blocks(2));
  EXPECT_EQ(table.exclusive(a), Blocks(0));
  table.close(a);
  EXPECT_EQ(table.referenced(), Blocks(2));
  EXPECT_EQ(table.exclusive(b), Blocks(2));
  table.close(b);
  EXPECT_EQ(table.free(), Blocks(8));
}

// Only whole blocks are shared, and never more tokens than the caller allows.
TEST(KvBlocks, FindsWholeBlocksUpToTheLimit) {
  KvBlocks table = small_table(1);
  const auto prompt = chain({1, 2});
  computed(table, prompt, 8);
  EXPECT_EQ(table.find(prompt, Tokens(8)).blocks, 2);
  EXPECT_EQ(table.find(prompt, Tokens(7)).blocks, 1);
  EXPECT_EQ(table.find(prompt, Tokens(3)).blocks, 0);
  EXPECT_EQ(table.find(nullptr, Tokens(100)).blocks, 0);
}

}  // namespace
}  // namespace tidegate::batch::testing
