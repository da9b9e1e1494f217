// Performs step plans on a llama.cpp context, exactly as written: trims and copies (slot_memory.h),
// then one llama_decode over all rows. One owner, on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "batch/step_plan.h"
#include "engines/llama/calibration.h"
#include "engines/llama/handles.h"
#include "engines/llama/row_fill.h"
#include "engines/llama/slot_memory.h"
#include "engines/tokenizer.h"
#include "units/quantity.h"

namespace tidegate::engines::llama {

enum class StepStatus : std::uint8_t {
  kDone,
  kNoMemory,  // no cells for the rows; nothing was computed
  kBroken,    // refused or cut short; some rows may have been computed
  kFatal,     // the context cannot be trusted any more
};

class StepRunner {
 public:
  // Tokens [from, from + count) of a row's sequence. The span is read before the next call.
  using TokenSource = std::function<std::span<const Token>(const batch::Row&)>;

  // REQUIRES: `context` outlives this and was made with `sizes`.
  StepRunner(llama_context* context, const Sizes& sizes);
  ~StepRunner();
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  // The plan's trims and copies, as SlotMemory::arrange().
  bool arrange(const batch::StepPlan& plan, const batch::KvBlocks& kv) {
    return slots_->arrange(plan, kv);
  }
  // The plan's rows. REQUIRES: arrange() was called for it; it is not idle.
  StepStatus compute(const batch::StepPlan& plan, const TokenSource& tokens);
  // From now on rows left over are filled up so, where there is room; with one pool they are not.
  void fill_rows(const RowFill& fill) { fill_ = fill; }
  // Where the logits of row `row` of the last plan are, for llama_get_logits_ith() and samplers.
  // REQUIRES: the row samples.
  std::int32_t output_of(std::size_t row) const { return outputs_[row]; }

  // One step of a calibration with made-up tokens, drawing from each decode row as serving does;
  // 0 when it failed. See TrialRunner.
  units::Nanos trial(const std::vector<TrialRow>& rows, const RowFill& fill,
                     const std::function<units::Instant()>& now);
  // Tokens held by all slots together, a shared one counted for each.
  units::Tokens held() const { return slots_->held(); }
  // Forgets what trials left. REQUIRES: no plan was arranged yet.
  void clear();

 private:
  // Tokens of one sequence, as many as follow each other in a step.
  struct Run {
    std::int32_t sequence = 0;
    std::int32_t from = 0;  // position of the first
    std::int32_t count = 0;
    bool output = false;       // logits of the last
    std::int32_t last_at = 0;  // where the last is in the batch

    std::int32_t end() const { return from + count; }
  };
  // The tokens of the run with that index. The span is read before the next call.
  using RunTokens = std::function<std::span<const Token>(std::size_t run)>;

  void lay_out(const RunTokens& tokens);
  void add(std::size_t run, std::int32_t begin, std::int32_t end, const RunTokens& tokens);
  void add(Token token, std::int32_t position, std::int32_t sequence, bool output);
  bool chunks_apart() const;
  bool one_pass_for_all() const;
  SlotMemory::Spare empty_behind(std::int32_t rows);
  StepStatus decode(const SlotMemory::Spare& spare);
  void fill_up(const SlotMemory::Spare& spare);
  void fill_up_behind(const Run& run, std::int32_t rows);
  bool fill_up(const Run& filler);
  void drop_fillers();
  void sort_rows(const batch::StepPlan& plan);

  llama_context* context_;
  llama_memory_t memory_;
  std::unique_ptr<SlotMemory> slots_;
  llama_batch batch_;
  std::vector<std::size_t> order_;     // of the plan's rows in the batch
  std::vector<std::int32_t> outputs_;  // by row of the plan
  std::int32_t max_step_tokens_;
  std::int32_t share_;  // cells of one sequence; 0: one pool
  RowFill fill_;
  std::vector<Run> runs_;     // of the step that is being put together, by sequence
  std::vector<Run> fillers_;  // added behind all of them
  std::vector<Token> made_up_;
};

}  // namespace tidegate::engines::llama
