#include "engines/llama/slot_memory.h"

#include "engines/llama/own_streams.h"

namespace tidegate::engines::llama {
namespace {

std::int32_t cells(units::Tokens tokens) {
  return static_cast<std::int32_t>(tokens.value());
}

class OnePool final : public SlotMemory {
 public:
  OnePool(llama_context* context, std::int32_t slots)
      : memory_(llama_get_memory(context)), slots_(slots) {}

  bool arrange(const batch::StepPlan& plan, const batch::KvBlocks& /*kv*/) override {
    for (const batch::Trim& trim : plan.trims) {
      llama_memory_seq_rm(memory_, trim.slot, cells(trim.keep), -1);
    }
    for (const batch::Copy& copy : plan.copies) {
      llama_memory_seq_cp(memory_, copy.from, copy.to, 0, cells(copy.length));
    }
    return true;
  }
  std::int32_t sequence(batch::Slot slot) const override { return slot; }
  Spare spare() const override { return {}; }
  units::Tokens held() const override {
    units::Tokens sum{0};
    for (std::int32_t s = 0; s < slots_; ++s) sum += held_by_sequence(memory_, s);
    return sum;
  }

 private:
  llama_memory_t memory_;
  std::int32_t slots_;
};

}  // namespace

std::unique_ptr<SlotMemory> SlotMemory::make(llama_context* context, const Sizes& sizes) {
  const std::int32_t slots = sizes.max_sequences + sizes.retained;
  if (sizes.kv_unified) return std::make_unique<OnePool>(context, slots);
  return std::make_unique<OwnStreams>(context, sizes.max_sequences, slots, sizes.sliding_window);
}

}  // namespace tidegate::engines::llama
