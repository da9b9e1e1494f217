// Identifiers. Each kind is its own type around a 64-bit number; ids are compared only to find
// things and to break ties, and every ordering in the house ends in one. Plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tidegate::units {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint64_t value) : value_(value) {}
  constexpr std::uint64_t value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint64_t value_ = 0;
};

using RequestId = Id<struct RequestTag>;
// Small dense numbers given out by the configuration: usable as an index.
using TenantId = Id<struct TenantTag>;
using ClassId = Id<struct ClassTag>;
using ModelId = Id<struct ModelTag>;
using EngineId = Id<struct EngineTag>;
// Counts the lives of one engine: events of an earlier life are dropped and counted.
using Epoch = Id<struct EpochTag>;
// Counts the tries of one request: events of an earlier try are dropped and counted.
using Attempt = Id<struct AttemptTag>;

}  // namespace tidegate::units

template <class Tag>
struct std::hash<tidegate::units::Id<Tag>> {
  std::size_t operator()(tidegate::units::Id<Tag> id) const noexcept {
    return static_cast<std::size_t>(id.value() * 0x9E3779B97F4A7C15ULL);
  }
};
