#include "engines/llama/calibration.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "units/check.h"
#include "units/integer.h"

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
// contexts. Most engines mostly run few sequences, and kernels that take rows by fours make each
// small number a case of its own: all of those are tried.
class Series {
 public:
  Series(const TrialLimits& limits, units::Nanos budget, const TrialRunner& run)
      : limits_(limits), budget_(budget), run_(run) {
    held_.resize(static_cast<std::size_t>(std::min(limits.max_sequences, kMostSequences)));
  }

  Trials measure() {
    essential();
    choose_tile();
    choose_fill();
    short_prompts();
    for (const std::int32_t context : {kShort, kLong}) {
      forget(1);
      for (const std::int32_t n : kWidths) {
        if (n > sequences() || !open()) break;
        fill(n, context);
        decode(n);
        if (n % 2 == 0) mixed(n, kShort + 1);
      }
    }
    return {std::move(samples_), fill_};
  }

 private:
  static constexpr std::array<std::int32_t, 9> kWidths{2, 3, 4, 5, 6, 7, 8, 12, 16};
  static constexpr std::int32_t kMostSequences = kWidths.back();
  // Filling up has to gain that much, in percent, to be more than noise.
  static constexpr std::int64_t kGainPercent = 3;

  static constexpr std::array<std::int32_t, 2> kLessThanATile{32, 48};
  static constexpr std::int32_t kShort = 64;
  static constexpr std::int32_t kLong = 384;

  // Enough for a usable law of the slowest engine: chunks and decodes of one sequence. A small
  // chunk behind a long context tells attention from the tokens' own cost. The first two steps
  // allocate and are not counted. Each of the rest runs twice; where the two differ by more than a
  // tenth the slower one does not count: what else the machine does only ever makes a step longer,
  // and few others make up for one that is off.
  void essential() {
    const std::size_t warm_up = chunk(0, 8) + decode(1);
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(warm_up));
    tries_ = 2;
    chunk(0, 16);
    decode(1);
    chunk(0, kShort);
    decode(1);
    if (open()) chunk(0, kLong - kShort);
    if (open()) chunk(0, kShort * 2);
    if (open()) chunk(0, kShort);
    decode(1);
  }

  std::int32_t sequences() const { return static_cast<std::int32_t>(held_.size()); }

  // How much longer attention takes row by row than in a tile, from three quarters of a tile behind
  // a context, as they are and filled up. What one more token takes is the difference of one and
  // two tiles. The best of two each, in turns, so that a change of the machine's speed hits all.
  void choose_tile() {
    constexpr std::int32_t kRows = kChunkTile * 3 / 4;
    const std::int32_t context = held_[0];
    const std::int32_t other = std::min(1, sequences() - 1);
    if (context < kLong || fitting(0, kChunkTile * 2, 0) < kChunkTile * 2 || !open()) return;
    RowFill tile = fill_;
    tile.attention_per_token = 0;
    units::Nanos plain, filled, one, two;
    plain = filled = one = two = units::Nanos::max();
    for (int i = 0; i < 2; ++i) {
      plain = std::min(plain, time_of({{0, context, kRows, false}}, fill_));
      filled = std::min(filled, time_of({{0, context, kRows, false}}, tile));
    }
    for (int i = 0; i < 2; ++i) {
      one = std::min(one, time_of({{other, 0, kChunkTile, false}}, fill_));
      two = std::min(two, time_of({{other, 0, kChunkTile * 2, false}}, fill_));
    }
    if (other == 0) held_[0] = kChunkTile * 2;
    const units::Nanos token = (two - one) / kChunkTile;
    const units::Nanos longer = plain - filled + token * (kChunkTile - kRows);
    if (broken_ || token <= units::Nanos(0) || longer * 100 <= plain * kGainPercent) return;
    fill_.attention_per_token = units::multiply_divide(std::int64_t{kRows} * (context + kRows / 2),
                                                       token.value(), longer.value());
  }

  // Whoever has fewer rows left over than gain from being filled up gains less.
  void choose_fill() {
    if (sequences() < kRowTile) return;
    for (std::int32_t rows = kRowTile - 1; rows > 1 && open(); --rows) {
      fill(rows, kShort);
      if (!gains(rows)) return;
      fill_.least = rows;
    }
  }

  // The best of three each, in turns, so that a change of the machine's speed hits both alike.
  bool gains(std::int32_t rows) {
    units::Nanos plain = units::Nanos::max();
    units::Nanos filled = units::Nanos::max();
    for (int i = 0; i < 3; ++i) {
      plain = std::min(plain, time_of(decode_rows(rows), RowFill()));
      filled = std::min(filled, time_of(decode_rows(rows), RowFill{rows}));
    }
    return !broken_ && filled * 100 <= plain * (100 - kGainPercent);
  }

  // Prompts of less than a tile, which take another way through attention than all other chunks.
  void short_prompts() {
    const std::int32_t sequence = std::min(1, sequences() - 1);
    for (const std::int32_t tokens : kLessThanATile) {
      if (!open()) return;
      forget(sequence);
      chunk(sequence, tokens);
    }
  }

  bool open() const { return !broken_ && spent_ < budget_; }

  std::int32_t room() const {
    std::int64_t used = 0;
    for (const std::int32_t held : held_) used += held;
    return static_cast<std::int32_t>(limits_.kv_tokens - 64 - used);
  }

  // Several rows empty the sequences behind theirs; these count as empty in any case.
  void forget(std::int32_t first) {
    std::fill(held_.begin() + std::min(first, sequences()), held_.end(), 0);
  }

  units::Nanos time_of(const std::vector<TrialRow>& rows, const RowFill& fill) {
    if (broken_ || rows.empty()) return units::Nanos(0);
    if (rows.size() > 1) forget(static_cast<std::int32_t>(rows.size()));
    const units::Nanos time = run_(rows, fill);
    broken_ = time <= units::Nanos(0);
    if (!broken_) spent_ += time;
    return time;
  }

  std::size_t step(const std::vector<TrialRow>& rows) {
    const units::Nanos once = time_of(rows, fill_);
    const bool twice = tries_ > 1 && open();
    const units::Nanos again = twice ? time_of(rows, fill_) : once;
    if (broken_ || rows.empty()) return 0;
    const units::Nanos faster = std::min(once, again);
    const units::Nanos slower = std::max(once, again);
    samples_.push_back({shape_of(rows), faster});
    if (twice && slower * 10 <= faster * 11) samples_.push_back({shape_of(rows), slower});
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

  // Brings the first n sequences to about `context` tokens, in chunks that are samples too, of
  // which there are many.
  void fill(std::int32_t n, std::int32_t context) {
    const int tries = std::exchange(tries_, 1);
    for (std::int32_t s = 0; s < n && open(); ++s) {
      while (open() && held_[static_cast<std::size_t>(s)] < context) {
        const std::int32_t rest = context - held_[static_cast<std::size_t>(s)];
        if (chunk(s, std::min(rest, kLong / 2)) == 0) break;
      }
    }
    tries_ = tries;
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
  RowFill fill_;
  units::Nanos spent_{0};
  int tries_ = 1;
  bool broken_ = false;
};

}  // namespace

units::Result<fitting::StepLawFit> calibrated_law(std::span<const fitting::Sample> samples) {
  units::Result<fitting::StepLawFit> fit = fitting::fit_step_law(samples, {.row_tile = kRowTile});
  if (!fit) return fit;
  auto& slopes = fit->law.per_token_fs;
  for (const std::size_t i : {1U, 2U}) {
    if (slopes[i] == 0 && slopes[i - 1] > 0) slopes[i] = slopes[i - 1];
  }
  return fit;
}

Trials run_trials(const TrialLimits& limits, units::Nanos budget, const TrialRunner& run) {
  TIDEGATE_CHECK(limits.max_sequences > 0 && limits.max_step_tokens > 0);
  return Series(limits, budget, run).measure();
}

}  // namespace tidegate::engines::llama
