// The order in which work is served within a tier: earliest due time first, then least laxity, then
// the id. The pool's queues and its picture of an engine's backlog sort by the same key. Plain
// values.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "units/ids.h"
#include "units/integer.h"
#include "units/quantity.h"

namespace tidegate::pool {

// Index into the request table and everything that is kept beside it.
using SlotIndex = std::uint32_t;
inline constexpr SlotIndex kNoSlot = std::numeric_limits<SlotIndex>::max();

struct OrderKey {
  units::Instant due;  // first token; never() for best effort
  // due - own work where something is due (laxity), the arrival where nothing is.
  units::Instant second;
  units::RequestId id;

  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};

// An amount of work, additive: what stands in front of somebody.
struct Work {
  std::int64_t requests = 0;
  units::Tokens prefill{0};
  std::int64_t attention = 0;  // token^2, see cost::StepShape
  units::Tokens memory{0};     // prompt and expected output
  units::Nanos price{0};       // engine time that it is worth to fair shares

  Work& operator+=(const Work& other) {
    requests += other.requests;
    prefill += other.prefill;
    attention = units::add_saturating(attention, other.attention);
    memory += other.memory;
    price += other.price;
    return *this;
  }
  friend bool operator==(const Work&, const Work&) = default;
};

}  // namespace tidegate::pool
