#include "pool/queueing/ordered_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

using Model = std::map<OrderKey, std::pair<SlotIndex, Work>>;

OrderKey random_key(units::Prng& prng, std::uint64_t id) {
  return {units::Instant(prng.between(0, 20)), units::Instant(prng.between(0, 3)),
          units::RequestId(id)};
}

Work naive_before(const Model& model, const OrderKey& key) {
  Work work;
  for (const auto& [k, entry] : model) {
    if (k < key) work += entry.second;
  }
  return work;
}

// Random inserts and erases: order, sums, ranks and neighbours are those of a sorted map.
TEST(OrderedQueue, AgreesWithASortedMap) {
  constexpr std::size_t kSlots = 64;
  units::Prng prng(11);
  QueueNodes nodes(kSlots);
  OrderedQueue queue;
  Model model;
  std::vector<SlotIndex> free;
  for (SlotIndex i = 0; i < kSlots; ++i) free.push_back(i);
  for (std::uint64_t id = 1; id < 20'000; ++id) {
    if (!free.empty() && (model.empty() || prng.chance(units::Ppm(520'000)))) {
      const OrderKey key = random_key(prng, id);
      const Work work{.requests = 1,
                      .prefill = units::Tokens(prng.between(1, 99)),
                      .attention = prng.between(0, 9),
                      .memory = units::Tokens(prng.between(0, 9))};
      queue.insert(nodes, free.back(), key, work);
      model[key] = {free.back(), work};
      free.pop_back();
    } else {
      auto victim = model.begin();
      std::advance(victim, static_cast<long>(prng.below(model.size())));
      queue.erase(nodes, victim->second.first);
      free.push_back(victim->second.first);
      model.erase(victim);
    }
    const OrderKey probe = random_key(prng, prng.below(id + 1));
    SumSearch search;
    search.add(queue);
    search.add(OrderedQueue());
    search.add(queue);
    const auto sums = search.run(nodes, probe);
    ASSERT_EQ(std::vector<Work>(sums.begin(), sums.end()),
              (std::vector<Work>{naive_before(model, probe), {}, naive_before(model, probe)}));
    const auto next = model.upper_bound(probe);
    ASSERT_EQ(queue.after(nodes, probe), next == model.end() ? kNoSlot : next->second.first);
    ASSERT_EQ(queue.empty(), model.empty());
    if (model.empty()) continue;
    ASSERT_EQ(queue.first(nodes), model.begin()->second.first);
    ASSERT_EQ(queue.last(nodes), model.rbegin()->second.first);
    const std::size_t rank = prng.below(model.size());
    ASSERT_EQ(queue.at(nodes, static_cast<std::int64_t>(rank)),
              std::next(model.begin(), static_cast<long>(rank))->second.first);
  }
}

}  // namespace
}  // namespace tidegate::pool
