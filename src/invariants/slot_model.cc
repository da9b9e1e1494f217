#include "invariants/slot_model.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::invariants {
namespace {

// Spreads two numbers over 64 bits (the finaliser of splitmix64).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

}  // namespace

SlotModel::SlotModel(std::int64_t slots, units::Tokens block_tokens)
    : slots_(static_cast<std::size_t>(slots)), block_tokens_(block_tokens.value()) {
  TIDEGATE_CHECK(slots >= 0 && block_tokens.value() > 0);
}

bool SlotModel::valid(batch::Slot slot) const {
  return slot >= 0 && static_cast<std::size_t>(slot) < slots_.size();
}

std::uint64_t SlotModel::content(const domain::AttemptRef& ref, const domain::Request& request,
                                 std::int64_t position) const {
  const auto block = static_cast<std::size_t>(position / block_tokens_);
  const auto offset = static_cast<std::uint64_t>(position % block_tokens_);
  if (request.prefix && block < request.prefix->size()) {
    return mix((*request.prefix)[block], offset);
  }
  return mix(mix(ref.request.value() + 1, ref.attempt.value()),
             static_cast<std::uint64_t>(position));
}

void SlotModel::perform(const batch::Trim& trim, Findings& findings) {
  findings.expect(valid(trim.slot) && trim.keep.value() >= 0, Invariant::kS11Step,
                  "a trim names slot {} and keeps {} tokens", trim.slot, trim.keep.value());
  if (!valid(trim.slot)) return;
  Content& slot = at(trim.slot);
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(0, trim.keep.value()));
  if (slot.tokens.size() > keep) slot.tokens.resize(keep);
  if (keep == 0) slot.owner.reset();
}

void SlotModel::perform(const batch::Copy& copy, Findings& findings) {
  const bool named = valid(copy.from) && valid(copy.to) && copy.from != copy.to;
  findings.expect(named, Invariant::kS11Step, "a copy goes from slot {} to slot {}", copy.from,
                  copy.to);
  if (!named) return;
  const Content& from = at(copy.from);
  Content& to = at(copy.to);
  findings.expect(to.tokens.empty(), Invariant::kS2Blocks,
                  "a copy goes to slot {}, which still holds {} tokens", copy.to, to.tokens.size());
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(0, copy.length.value()));
  findings.expect(length > 0 && length <= from.tokens.size(), Invariant::kS2Blocks,
                  "a copy takes {} tokens of slot {}, which holds {}", copy.length.value(),
                  copy.from, from.tokens.size());
  const std::size_t taken = std::min(length, from.tokens.size());
  to.tokens.assign(from.tokens.begin(), from.tokens.begin() + static_cast<std::ptrdiff_t>(taken));
  to.owner.reset();
}

void SlotModel::perform(const batch::Row& row, const domain::Request& request, Findings& findings) {
  findings.expect(valid(row.slot), Invariant::kS11Step, "a row of request {} names slot {}",
                  row.ref.request.value(), row.slot);
  if (!valid(row.slot)) return;
  Content& slot = at(row.slot);
  const auto held = static_cast<std::int64_t>(slot.tokens.size());
  findings.expect(held == row.from.value(), Invariant::kS6Tokens,
                  "request {} computes from token {} on in slot {}, which holds {} tokens",
                  row.ref.request.value(), row.from.value(), row.slot, held);
  if (slot.owner != row.ref) {
    for (std::int64_t i = 0; i < std::min(held, row.from.value()); ++i) {
      if (slot.tokens[static_cast<std::size_t>(i)] == content(row.ref, request, i)) continue;
      findings.expect(false, Invariant::kS2Blocks,
                      "slot {} holds another content than request {} has at token {}", row.slot,
                      row.ref.request.value(), i);
      break;
    }
    slot.owner = row.ref;
  }
  for (std::int64_t i = 0; i < row.count.value(); ++i) {
    slot.tokens.push_back(content(row.ref, request, row.from.value() + i));
  }
}

void SlotModel::undo(const batch::Row& row) {
  if (!valid(row.slot)) return;
  auto& tokens = at(row.slot).tokens;
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(0, row.from.value()));
  if (tokens.size() > keep) tokens.resize(keep);
}

}  // namespace tidegate::invariants
