#include "engines/llama/calibration.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "units/check.h"

namespace tidegate::engines::llama {
namespace {

cost::StepShape shape_of(const std::vector<TrialRow>& rows) {
  cost::StepShape shape;
  for (const TrialRow& row : rows) {
    if (row.decode) {
      shape.add_decode(units::Tokens(row.from));
    } else {
      shape.add_chunk(units::Tokens(row.from), units::Tokens(row.count));
    }
  }
  return shape;
}

// The series of trial steps. Sequences fill up as it goes, so that later decodes read longer
// contexts. Numbers of decodes that are not powers of two are tried, too: kernels that take rows by
// fours are much better at the powers.
class Series {
 public:
  Series(const TrialLimits& limits, units::Nanos budget, const TrialRunner& run)
      : limits_(limits), budget_(budget), run_(run) {
    held_.resize(static_cast<std::size_t>(std::min(limits.max_sequences, kMostSequences)));
  }

  std::vector<fitting::Sample> measure() {
    essential();
    const auto most = static_cast<std::int32_t>(held_.size());
    for (const std::int32_t context : {kShort, kLong}) {
      for (std::int32_t n = 2; n <= most && open(); n *= 2) {
        fill(n, context);
        for (const std::int32_t some : {n, n, n * 3 / 4, n * 5 / 8}) decode(some);
        mixed(n, kShort + 1);
      }
    }
    return std::move(samples_);
  }

 private:
  static constexpr std::int32_t kMostSequences = 16;

  static constexpr std::int32_t kShort = 64;
  static constexpr std::int32_t kLong = 384;

  // Enough for a usable law of the slowest engine: chunks and decodes of one sequence. A small
  // chunk behind a long context tells attention from the tokens' own cost. The first two steps
  // allocate and are not counted. Decodes of one sequence follow each other when they serve, and
  // find the weights in the processor's cache: the second of two is worth as much as the first.
  void essential() {
    const std::size_t warm_up = chunk(0, 8) + decode(1);
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(warm_up));
    chunk(0, 16);
    decode(1);
    decode(1);
    chunk(0, kShort);
    decode(1);
    decode(1);
    if (open()) chunk(0, kLong - kShort);
    if (open()) chunk(0, kShort * 2);
    if (open()) chunk(0, kShort);
    decode(1);
    decode(1);
  }

  bool open() const { return !broken_ && spent_ < budget_; }

  std::int32_t room() const {
    std::int64_t used = 0;
    for (const std::int32_t held : held_) used += held;
    return static_cast<std::int32_t>(limits_.kv_tokens - 64 - used);
  }

  std::size_t step(const std::vector<TrialRow>& rows) {
    if (broken_ || rows.empty()) return 0;
    const units::Nanos time = run_(rows);
    broken_ = time <= units::Nanos(0);
    if (broken_) return 0;
    spent_ += time;
    samples_.push_back({shape_of(rows), time});
    for (const TrialRow& row : rows) {
      if (!row.decode) held_[static_cast<std::size_t>(row.sequence)] = row.from + row.count;
    }
    return 1;
  }

  std::int32_t fitting(std::int32_t sequence, std::int32_t tokens, std::int32_t beside) const {
    const std::int32_t held = held_[static_cast<std::size_t>(sequence)];
    return std::min(
        {tokens, limits_.max_step_tokens - beside, limits_.max_context - 2 - held, room()});
  }

  std::size_t chunk(std::int32_t sequence, std::int32_t tokens) {
    const std::int32_t count = fitting(sequence, tokens, 0);
    if (count <= 0) return 0;
    return step({{sequence, held_[static_cast<std::size_t>(sequence)], count, false}});
  }

  std::vector<TrialRow> decode_rows(std::int32_t n) const {
    std::vector<TrialRow> rows;
    for (std::int32_t s = 0; s < n; ++s) {
      const std::int32_t held = held_[static_cast<std::size_t>(s)];
      if (held > 0) rows.push_back({s, held, 1, true});
    }
    return rows;
  }

  std::size_t decode(std::int32_t n) {
    if (n > limits_.max_step_tokens) return 0;
    return step(decode_rows(n));
  }

  // Brings the first n sequences to about `context` tokens, in chunks that are samples too.
  void fill(std::int32_t n, std::int32_t context) {
    for (std::int32_t s = 0; s < n; ++s) {
      while (open() && held_[static_cast<std::size_t>(s)] < context) {
        if (chunk(s, context - held_[static_cast<std::size_t>(s)]) == 0) return;
      }
    }
  }

  // Decodes of all but the last sequence, beside a chunk of that one.
  void mixed(std::int32_t n, std::int32_t tokens) {
    std::vector<TrialRow> rows = decode_rows(n - 1);
    const std::int32_t count = fitting(n - 1, tokens, n - 1);
    if (count <= 0 || !open()) return;
    rows.push_back({n - 1, held_[static_cast<std::size_t>(n - 1)], count, false});
    step(rows);
  }

  TrialLimits limits_;
  units::Nanos budget_;
  const TrialRunner& run_;
  std::vector<std::int32_t> held_;  // tokens of each sequence
  std::vector<fitting::Sample> samples_;
  units::Nanos spent_{0};
  bool broken_ = false;
};

}  // namespace

units::Result<fitting::StepLawFit> calibrated_law(std::span<const fitting::Sample> samples) {
  units::Result<fitting::StepLawFit> fit = fitting::fit_step_law(samples);
  if (!fit) return fit;
  auto& slopes = fit->law.per_token_fs;
  for (const std::size_t i : {1U, 2U}) {
    if (slopes[i] == 0 && slopes[i - 1] > 0) slopes[i] = slopes[i - 1];
  }
  return fit;
}

std::vector<fitting::Sample> run_trials(const TrialLimits& limits, units::Nanos budget,
                                        const TrialRunner& run) {
  TIDEGATE_CHECK(limits.max_sequences > 0 && limits.max_step_tokens > 0);
  return Series(limits, budget, run).measure();
}

}  // namespace tidegate::engines::llama
