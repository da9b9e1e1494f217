#include "pool/request_table.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "units/prng.h"

namespace tidegate::pool {
namespace {

// Random takes and frees with clashing ids: every id is found where it was put, and no other is.
TEST(RequestTable, FindsWhatAMapFinds) {
  units::Prng prng(17);
  RequestTable table(40);
  std::unordered_map<std::uint64_t, SlotIndex> model;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t id = prng.below(120) << (prng.below(2) * 33);
    const auto known = model.find(id);
    const SlotIndex slot = table.find(units::RequestId(id));
    ASSERT_EQ(slot, known == model.end() ? kNoSlot : known->second);
    if (known != model.end()) {
      table.free(slot);
      model.erase(known);
    } else if (model.size() < table.capacity()) {
      const SlotIndex taken = table.take(units::RequestId(id));
      ASSERT_NE(taken, kNoSlot);
      table[taken].request.id = units::RequestId(id);
      model[id] = taken;
    } else {
      ASSERT_EQ(table.take(units::RequestId(id)), kNoSlot);
    }
    ASSERT_EQ(table.size(), model.size());
  }
}

}  // namespace
}  // namespace tidegate::pool
