#include "sim/agenda.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::sim {
namespace {

bool later(const Item& a, const Item& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

}  // namespace

void Agenda::put(units::Instant at, Happening what, std::uint64_t subject) {
  heap_.push_back({at, next_order_++, what, subject});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

Item Agenda::take() {
  TIDEGATE_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Item item = heap_.back();
  heap_.pop_back();
  return item;
}

}  // namespace tidegate::sim
