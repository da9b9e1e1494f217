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
      share_(sizes.kv_unified
                 ? 0
                 : std::min(sizes.kv_tokens / sizes.max_sequences, sizes.max_context)) {}

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

// The run's tokens at positions [begin, end).
void StepRunner::add(std::size_t run, std::int32_t begin, std::int32_t end,
                     const RunTokens& tokens) {
  Run& of = runs_[run];
  const std::span<const Token> span = tokens(run);
  TIDEGATE_CHECK(static_cast<std::int32_t>(span.size()) == of.count);
  for (std::int32_t at = begin; at < end; ++at) {
    const Token token = span[static_cast<std::size_t>(at - of.from)];
    add(token, at, of.sequence, of.output && at + 1 == of.end());
  }
  of.last_at = batch_.n_tokens - 1;
}

// Beside a single token there is a pass that takes one of every run.
bool StepRunner::one_pass_for_all() const {
  return runs_.size() > 1 &&
         std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.count == 1; });
}

// Chunks that shared a pass would be cut to the shortest, which leaves attention less than a tile.
bool StepRunner::chunks_apart() const {
  return share_ > 0 && fill_.attention_per_token < RowFill::kNeverTiled;
}

// Without a common pool llama.cpp computes in one pass over the weights as many tokens of each
// sequence as the shortest of them has, and takes sequences in the order of the batch as long as
// each is the next number (llama-batch.cpp, split_equal). To keep chunks apart a token of every run
// comes first, by rising numbers, and then the rest of the chunks by falling ones. Where a sequence
// between them has no row in the step, passes begin anew and chunks may share one all the same.
void StepRunner::lay_out(const RunTokens& tokens) {
  batch_.n_tokens = 0;
  const bool apart = chunks_apart();
  const bool first = apart && one_pass_for_all();
  for (std::size_t i = 0; i < runs_.size() && (first || !apart); ++i) {
    add(i, runs_[i].from, first ? runs_[i].from + 1 : runs_[i].end(), tokens);
  }
  for (std::size_t i = runs_.size(); apart && i-- > 0;) {
    const std::int32_t begin = runs_[i].from + (first ? 1 : 0);
    if (begin < runs_[i].end()) add(i, begin, runs_[i].end(), tokens);
  }
}

// Passes are filled up: the one for all with sequences that hold nothing else, a chunk's with
// tokens behind it, which none of the chunk's own looks at.
void StepRunner::fill_up(const SlotMemory::Spare& spare) {
  if (share_ == 0) return;
  const auto is_chunk = [](const Run& run) { return run.count > 1; };
  const bool first = chunks_apart() ? one_pass_for_all() : runs_.size() > 1;
  const auto count = static_cast<std::int32_t>(runs_.size());
  const std::int32_t across = first ? fill_.beside(count) : 0;
  if (spare.first == count && across <= spare.count) {
    for (std::int32_t i = 0; i < across; ++i) fill_up({.sequence = count + i, .count = 1});
  }
  if (!chunks_apart() && std::count_if(runs_.begin(), runs_.end(), is_chunk) > 1) return;
  for (const Run& run : runs_) {
    if (is_chunk(run)) fill_up_behind(run, first ? run.count - 1 : run.count);
  }
}

// Up to a tile where that is worth it, or else to whole rows.
void StepRunner::fill_up_behind(const Run& run, std::int32_t rows) {
  Run filler{.sequence = run.sequence, .from = run.end()};
  for (const std::int32_t behind : {fill_.behind(rows, run.end() - rows), fill_.beside(rows)}) {
    filler.count = behind;
    if (filler.end() <= share_ && fill_up(filler)) return;
  }
}

// False where the step has no room for it.
bool StepRunner::fill_up(const Run& filler) {
  if (batch_.n_tokens + filler.count > max_step_tokens_) return false;
  for (std::int32_t at = filler.from; at < filler.end(); ++at) add(0, at, filler.sequence, false);
  if (filler.count > 0) fillers_.push_back(filler);
  return true;
}

void StepRunner::drop_fillers() {
  for (const Run& run : fillers_) llama_memory_seq_rm(memory_, run.sequence, run.from, -1);
  fillers_.clear();
}

StepStatus StepRunner::decode(const SlotMemory::Spare& spare) {
  fill_up(spare);
  const StepStatus status = status_of(llama_decode(context_, batch_));
  llama_synchronize(context_);
  drop_fillers();
  return status;
}

void StepRunner::sort_rows(const batch::StepPlan& plan) {
  order_.resize(plan.rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return slots_->sequence(plan.rows[a].slot) < slots_->sequence(plan.rows[b].slot);
  });
}

StepStatus StepRunner::compute(const batch::StepPlan& plan, const TokenSource& tokens) {
  sort_rows(plan);
  runs_.clear();
  for (const std::size_t index : order_) {
    const batch::Row& row = plan.rows[index];
    runs_.push_back({.sequence = slots_->sequence(row.slot),
                     .from = cells(row.from),
                     .count = cells(row.count),
                     .output = row.samples});
  }
  lay_out([&](std::size_t run) { return tokens(plan.rows[order_[run]]); });
  outputs_.resize(plan.rows.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) outputs_[order_[i]] = runs_[i].last_at;
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
  runs_.clear();
  for (const TrialRow& row : rows) {
    llama_memory_seq_rm(memory_, row.sequence, row.from, -1);
    runs_.push_back({row.sequence, row.from, row.count, row.decode});
  }
  lay_out([&](std::size_t run) {
    const Run& of = runs_[run];
    made_up_.resize(static_cast<std::size_t>(of.count));
    for (std::int32_t i = 0; i < of.count; ++i) {
      made_up_[static_cast<std::size_t>(i)] = ((of.from + i) * 97 + of.sequence * 31) % vocabulary;
    }
    return std::span<const Token>(made_up_);
  });
  const SlotMemory::Spare spare = runs_.size() > 1
                                      ? empty_behind(static_cast<std::int32_t>(runs_.size()))
                                      : SlotMemory::Spare{};
  const SamplerHandle greedy(llama_sampler_init_greedy());
  const units::Instant start = now();
  if (decode(spare) != StepStatus::kDone) return units::Nanos(0);
  for (const Run& run : runs_) {
    if (run.output) llama_sampler_sample(greedy.get(), context_, run.last_at);
  }
  return std::max(units::Nanos(1), now() - start);
}

void StepRunner::clear() {
  llama_memory_clear(memory_, false);
}

}  // namespace tidegate::engines::llama
