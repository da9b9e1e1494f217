#include "engines/llama/step_runner.h"

#include <algorithm>
#include <numeric>

#include "units/check.h"

namespace tidegate::engines::llama {
namespace {

constexpr std::int32_t kDone = 0;
constexpr std::int32_t kNoSlot = 1;
constexpr std::int32_t kAborted = 2;
constexpr std::int32_t kBadBatch = -1;

StepStatus status_of(std::int32_t code) {
  if (code == kDone) return StepStatus::kDone;
  if (code == kNoSlot) return StepStatus::kNoMemory;
  if (code == kAborted || code == kBadBatch) return StepStatus::kBroken;
  return StepStatus::kFatal;
}

std::int32_t cells(units::Tokens tokens) {
  return static_cast<std::int32_t>(tokens.value());
}

}  // namespace

StepRunner::StepRunner(llama_context* context, const Sizes& sizes)
    : context_(context),
      memory_(llama_get_memory(context)),
      slots_(SlotMemory::make(context, sizes)),
      batch_(llama_batch_init(sizes.max_step_tokens, 0, 1)),
      max_step_tokens_(sizes.max_step_tokens),
      share_(sizes.kv_unified ? 0 : sizes.kv_tokens / sizes.max_sequences) {}

StepRunner::~StepRunner() {
  llama_batch_free(batch_);
}

void StepRunner::add(Token token, std::int32_t position, std::int32_t sequence, bool output) {
  const std::int32_t i = batch_.n_tokens++;
  batch_.token[i] = token;
  batch_.pos[i] = position;
  batch_.n_seq_id[i] = 1;
  batch_.seq_id[i][0] = sequence;
  batch_.logits[i] = output ? 1 : 0;
}

void StepRunner::note(const Run& run) {
  runs_ += 1;
  if (run.count == 1) return;
  chunks_ += 1;
  chunk_ = run;
}

// Without a common pool llama.cpp computes the first token of every sequence in one pass over the
// weights and the rest of a chunk in a second one (llama-batch.cpp, split_equal). The first is
// filled up with sequences that hold nothing else, the second with tokens behind the chunk, which
// none of the chunk's own looks at.
void StepRunner::fill_up(const SlotMemory::Spare& spare) {
  if (share_ == 0) return;
  const std::int32_t across = runs_ > 1 ? fill_.beside(runs_) : 0;
  if (spare.first == runs_ && across <= spare.count) {
    for (std::int32_t i = 0; i < across; ++i) fillers_.push_back({runs_ + i, 0, 1});
  }
  if (chunks_ == 1) {
    const std::int32_t behind = fill_.behind(runs_ > 1 ? chunk_.count - 1 : chunk_.count);
    if (behind > 0 && chunk_.end + behind <= share_) {
      fillers_.push_back({chunk_.sequence, chunk_.end, behind});
    }
  }
  std::int32_t count = 0;
  for (const Run& run : fillers_) count += run.count;
  if (batch_.n_tokens + count > max_step_tokens_) fillers_.clear();
  for (const Run& run : fillers_) {
    for (std::int32_t i = 0; i < run.count; ++i) add(0, run.end + i, run.sequence, false);
  }
}

void StepRunner::drop_fillers() {
  for (const Run& run : fillers_) llama_memory_seq_rm(memory_, run.sequence, run.end, -1);
  fillers_.clear();
}

StepStatus StepRunner::decode(const SlotMemory::Spare& spare) {
  fill_up(spare);
  const StepStatus status = status_of(llama_decode(context_, batch_));
  llama_synchronize(context_);
  drop_fillers();
  return status;
}

void StepRunner::begin() {
  batch_.n_tokens = 0;
  runs_ = 0;
  chunks_ = 0;
}

void StepRunner::sort_rows(const batch::StepPlan& plan) {
  order_.resize(plan.rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return slots_->sequence(plan.rows[a].slot) < slots_->sequence(plan.rows[b].slot);
  });
}

StepStatus StepRunner::compute(const batch::StepPlan& plan, const TokenSource& tokens) {
  begin();
  outputs_.resize(plan.rows.size());
  sort_rows(plan);
  for (const std::size_t index : order_) {
    const batch::Row& row = plan.rows[index];
    const std::span<const Token> span = tokens(row);
    const std::int32_t sequence = slots_->sequence(row.slot);
    TIDEGATE_CHECK(static_cast<std::int64_t>(span.size()) == row.count.value());
    for (std::size_t i = 0; i < span.size(); ++i) {
      const bool last = i + 1 == span.size();
      add(span[i], cells(row.from) + static_cast<std::int32_t>(i), sequence, last && row.samples);
    }
    outputs_[index] = batch_.n_tokens - 1;
    note({sequence, cells(row.from) + cells(row.count), cells(row.count)});
  }
  return decode(slots_->spare());
}

SlotMemory::Spare StepRunner::empty_behind(std::int32_t rows) {
  const auto all = static_cast<std::int32_t>(llama_n_seq_max(context_));
  for (std::int32_t i = rows; i < all; ++i) llama_memory_seq_rm(memory_, i, -1, -1);
  return {rows, all - rows};
}

units::Nanos StepRunner::trial(const std::vector<TrialRow>& rows, const RowFill& fill,
                               const std::function<units::Instant()>& now) {
  fill_ = fill;
  const std::int32_t vocabulary =
      llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context_)));
  begin();
  std::vector<std::int32_t> drawn;
  for (const TrialRow& row : rows) {
    llama_memory_seq_rm(memory_, row.sequence, row.from, -1);
    for (std::int32_t i = 0; i < row.count; ++i) {
      const std::int32_t at = row.from + i;
      add((at * 97 + row.sequence * 31) % vocabulary, at, row.sequence, row.decode);
    }
    if (row.decode) drawn.push_back(batch_.n_tokens - 1);
    note({row.sequence, row.from + row.count, row.count});
  }
  const SlotMemory::Spare spare = runs_ > 1 ? empty_behind(runs_) : SlotMemory::Spare{};
  const SamplerHandle greedy(llama_sampler_init_greedy());
  const units::Instant start = now();
  if (decode(spare) != StepStatus::kDone) return units::Nanos(0);
  for (const std::int32_t output : drawn) llama_sampler_sample(greedy.get(), context_, output);
  return std::max(units::Nanos(1), now() - start);
}

void StepRunner::clear() {
  llama_memory_clear(memory_, false);
}

}  // namespace tidegate::engines::llama
