// The kind of SlotMemory in which each running slot has a stream of its own; see slot_memory.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/llama/slot_memory.h"

namespace tidegate::engines::llama {

// Tokens that llama.cpp holds for a sequence.
units::Tokens held_by_sequence(llama_memory_t memory, std::int32_t sequence);

class OwnStreams final : public SlotMemory {
 public:
  // `whole`: streams are copied only as a whole and nothing is taken out of one, since the state
  // that llama.cpp writes of a sequence leaves out what a sliding window has passed, which a
  // shorter prefix still needs. REQUIRES: the context has `streams` sequences; at most so many
  // slots run at once, and with `whole` none is ever retained.
  OwnStreams(llama_context* context, std::int32_t streams, std::int32_t slots, bool whole);

  bool arrange(const batch::StepPlan& plan, const batch::KvBlocks& kv) override;
  std::int32_t sequence(batch::Slot slot) const override;
  Spare spare() const override;
  units::Tokens held() const override;

 private:
  static constexpr std::int32_t kNone = -1;

  // The state of one sequence outside the context, as llama.cpp wrote it.
  struct Saved {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::size_t capacity = 0;
    std::int32_t tokens = 0;  // of it, that count; what is behind them is dropped when put back
  };
  struct SlotState {
    std::int32_t stream = kNone;
    Saved saved;  // of a cached prefix
  };

  SlotState& at(batch::Slot slot) { return slots_[static_cast<std::size_t>(slot)]; }
  bool trim(const batch::Trim& trim, batch::SlotUse use);
  bool copy(const batch::Copy& copy);
  bool save(std::int32_t stream, Saved& into);
  bool put_back(const Saved& saved, std::int32_t stream, std::int32_t tokens);
  bool duplicate(std::int32_t from, std::int32_t to, std::int32_t tokens);
  void occupy(batch::Slot slot);
  void release(batch::Slot slot);
  bool close_gaps();
  bool move(std::int32_t from, std::int32_t to);

  llama_context* context_;
  llama_memory_t memory_;
  std::vector<SlotState> slots_;
  std::vector<batch::Slot> owners_;  // by stream
  Saved passage_;                    // of what is on its way from one stream to another
  bool whole_;
};

}  // namespace tidegate::engines::llama
