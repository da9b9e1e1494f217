#include "engines/llama/own_streams.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::engines::llama {

units::Tokens held_by_sequence(llama_memory_t memory, std::int32_t sequence) {
  const std::int64_t last = llama_memory_seq_pos_max(memory, sequence);
  if (last < 0) return units::Tokens(0);
  return units::Tokens(last + 1 - llama_memory_seq_pos_min(memory, sequence));
}

OwnStreams::OwnStreams(llama_context* context, std::int32_t streams, std::int32_t slots, bool whole)
    : context_(context),
      memory_(llama_get_memory(context)),
      slots_(static_cast<std::size_t>(slots)),
      owners_(static_cast<std::size_t>(streams), kNone),
      whole_(whole) {}

bool OwnStreams::arrange(const batch::StepPlan& plan, const batch::KvBlocks& kv) {
  for (const batch::Trim& each : plan.trims) {
    if (!trim(each, kv.use(each.slot))) return false;
  }
  for (const batch::Copy& each : plan.copies) {
    if (!copy(each)) return false;
  }
  for (const batch::Row& row : plan.rows) occupy(row.slot);
  return close_gaps();
}

std::int32_t OwnStreams::sequence(batch::Slot slot) const {
  const std::int32_t stream = slots_[static_cast<std::size_t>(slot)].stream;
  TIDEGATE_CHECK(stream != kNone);
  return stream;
}

SlotMemory::Spare OwnStreams::spare() const {
  const auto free = std::find(owners_.begin(), owners_.end(), kNone);  // none beyond is in use
  return {static_cast<std::int32_t>(free - owners_.begin()),
          static_cast<std::int32_t>(owners_.end() - free)};
}

units::Tokens OwnStreams::held() const {
  units::Tokens sum{0};
  for (const SlotState& slot : slots_) {
    sum += slot.stream == kNone ? units::Tokens(slot.saved.tokens)
                                : held_by_sequence(memory_, slot.stream);
  }
  return sum;
}

// A slot's sequence has gone since the plan before when it is told to keep a part and runs no more
// (then that is cached), or to keep nothing (then it is free, or already another one's).
bool OwnStreams::trim(const batch::Trim& trim, batch::SlotUse use) {
  SlotState& slot = at(trim.slot);
  const auto keep = static_cast<std::int32_t>(trim.keep.value());
  if (slot.stream != kNone) llama_memory_seq_rm(memory_, slot.stream, keep, -1);
  if (keep == 0) slot.saved = {};
  if (use == batch::SlotUse::kRunning) return true;
  slot.saved.tokens = std::min(slot.saved.tokens, keep);
  if (slot.stream == kNone) return true;
  const bool kept = keep == 0 || save(slot.stream, slot.saved);
  release(trim.slot);
  return kept;
}

bool OwnStreams::copy(const batch::Copy& copy) {
  const SlotState& source = at(copy.from);
  const auto length = static_cast<std::int32_t>(copy.length.value());
  occupy(copy.to);
  const std::int32_t to = at(copy.to).stream;
  return source.stream == kNone ? put_back(source.saved, to, length)
                                : duplicate(source.stream, to, length);
}

bool OwnStreams::save(std::int32_t stream, Saved& into) {
  const std::size_t size = llama_state_seq_get_size(context_, stream);
  if (into.capacity < size) {
    into.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    into.capacity = size;
  }
  into.size = llama_state_seq_get_data(context_, into.bytes.get(), size, stream);
  into.tokens = static_cast<std::int32_t>(held_by_sequence(memory_, stream).value());
  return into.size > 0;
}

bool OwnStreams::put_back(const Saved& saved, std::int32_t stream, std::int32_t tokens) {
  TIDEGATE_CHECK(saved.size > 0 && tokens <= saved.tokens);
  if (llama_state_seq_set_data(context_, saved.bytes.get(), saved.size, stream) == 0) return false;
  return llama_memory_seq_rm(memory_, stream, tokens, -1);
}

bool OwnStreams::duplicate(std::int32_t from, std::int32_t to, std::int32_t tokens) {
  if (!whole_) return save(from, passage_) && put_back(passage_, to, tokens);
  llama_memory_seq_cp(memory_, from, to, -1, -1);
  return llama_memory_seq_rm(memory_, to, tokens, -1);
}

void OwnStreams::occupy(batch::Slot slot) {
  if (at(slot).stream != kNone) return;
  const auto free = std::find(owners_.begin(), owners_.end(), kNone);
  TIDEGATE_CHECK(free != owners_.end());
  *free = slot;
  at(slot).stream = static_cast<std::int32_t>(free - owners_.begin());
}

void OwnStreams::release(batch::Slot slot) {
  const std::int32_t stream = at(slot).stream;
  llama_memory_seq_rm(memory_, stream, -1, -1);
  owners_[static_cast<std::size_t>(stream)] = kNone;
  at(slot).stream = kNone;
}

bool OwnStreams::close_gaps() {
  std::size_t low = 0;
  std::size_t high = owners_.size();
  while (true) {
    while (low < high && owners_[low] != kNone) ++low;
    while (low < high && owners_[high - 1] == kNone) --high;
    if (low == high) return true;
    if (!move(static_cast<std::int32_t>(high - 1), static_cast<std::int32_t>(low))) return false;
  }
}

bool OwnStreams::move(std::int32_t from, std::int32_t to) {
  const batch::Slot slot = owners_[static_cast<std::size_t>(from)];
  const auto tokens = static_cast<std::int32_t>(held_by_sequence(memory_, from).value());
  if (!duplicate(from, to, tokens)) return false;
  release(slot);
  owners_[static_cast<std::size_t>(to)] = slot;
  at(slot).stream = to;
  return true;
}

}  // namespace tidegate::engines::llama
