#include "engines/llama/calibration.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "cost/step_law.h"
#include "fitting/step_law_fit.h"
#include "units/prng.h"

namespace tidegate::engines::llama {
namespace {

constexpr TrialLimits kLimits{
    .max_sequences = 32, .max_step_tokens = 512, .max_context = 4096, .kv_tokens = 16384};

cost::StepShape shape(std::int64_t decodes, std::int64_t context, std::int64_t chunk) {
  cost::StepShape s;
  for (std::int64_t i = 0; i < decodes; ++i) s.add_decode(units::Tokens(context));
  if (chunk > 0) s.add_chunk(units::Tokens(context), units::Tokens(chunk));
  return s;
}

// An engine that obeys `law`, but for noise of up to `noise_ppm` on each step.
class Modelled {
 public:
  explicit Modelled(const domain::StepCoefficients& law, std::int64_t noise_ppm = 0)
      : law_(law), noise_ppm_(noise_ppm) {}

  units::Nanos run(const std::vector<TrialRow>& rows) {
    cost::StepShape s;
    for (const TrialRow& row : rows) {
      if (row.decode) {
        s.add_decode(units::Tokens(row.from));
      } else {
        s.add_chunk(units::Tokens(row.from), units::Tokens(row.count));
      }
    }
    const units::Ppm factor(units::kMillion + prng_.between(-noise_ppm_, noise_ppm_));
    const units::Nanos time = units::scaled(cost::predict(law_, s), factor);
    total_ += time;
    return time;
  }
  TrialRunner runner() {
    return [this](const std::vector<TrialRow>& rows, const RowFill&) { return run(rows); };
  }
  units::Nanos total() const { return total_; }

 private:
  domain::StepCoefficients law_;
  std::int64_t noise_ppm_;
  units::Prng prng_{11};
  units::Nanos total_{0};
};

// The fitted law predicts each of `shapes` to within `tolerance_ppm` of the true one.
void expect_same_times(const domain::StepCoefficients& fitted, const domain::StepCoefficients& law,
                       std::int64_t tolerance_ppm) {
  for (const auto& s : {shape(1, 100, 0), shape(8, 200, 0), shape(16, 600, 0), shape(4, 300, 64),
                        shape(0, 0, 256), shape(12, 400, 512)}) {
    const std::int64_t expected = cost::predict(law, s).value();
    const std::int64_t got = cost::predict(fitted, s).value();
    EXPECT_LE(std::abs(got - expected), expected / 1000 * tolerance_ppm / 1000)
        << s.decodes << " decodes, chunk " << s.prefill_tokens << ": " << got << " for "
        << expected;
  }
}

const domain::StepCoefficients kStraight{.base_fs = 2'000'000'000'000,
                                         .per_token_fs = {0, 0, 1'200'000'000'000},
                                         .per_decode_fs = 300'000'000'000,
                                         .per_kv_token_fs = 400'000'000,
                                         .per_attention_fs = 250'000'000};
const domain::StepCoefficients kKneed{
    .base_fs = 5'000'000'000'000,
    .knees = {units::Tokens(16), units::Tokens(64)},
    .per_token_fs = {10'000'000'000, 60'000'000'000, 400'000'000'000},
    .per_kv_token_fs = 200'000'000};

// Without noise a law of the family is found again.
TEST(Calibration, RecoversAStraightLaw) {
  Modelled engine(kStraight);
  const auto samples = run_trials(kLimits, units::seconds(30), engine.runner()).samples;
  expect_same_times(calibrated_law(samples)->law, kStraight, 1'000);
}

// A law with knees at powers of two is found again, knees and all.
TEST(Calibration, RecoversKnees) {
  Modelled engine(kKneed);
  const auto samples = run_trials(kLimits, units::seconds(30), engine.runner()).samples;
  const auto fitted = calibrated_law(samples)->law;
  expect_same_times(fitted, kKneed, 1'000);
  EXPECT_EQ(fitted.knees, kKneed.knees);
}

// Five percent of noise on each step does not move a prediction by more than ten.
TEST(Calibration, BearsNoise) {
  for (const auto& law : {kStraight, kKneed}) {
    Modelled engine(law, 50'000);
    const auto samples = run_trials(kLimits, units::seconds(30), engine.runner()).samples;
    expect_same_times(calibrated_law(samples)->law, law, 100'000);
  }
}

// Kernels that take rows by fours: rows left over cost `stray_us` each where a whole tile costs
// 4 ms, and sequences whatever else.
class Tiled {
 public:
  explicit Tiled(std::int64_t stray_us) : stray_us_(stray_us) {}
  TrialRunner runner() {
    return [this](const std::vector<TrialRow>& rows, const RowFill& fill) {
      const auto n = static_cast<std::int32_t>(rows.size());
      cost::StepShape s;
      for (const TrialRow& row : rows) {
        if (row.decode) s.add_decode(units::Tokens(row.from));
        if (!row.decode) s.add_chunk(units::Tokens(row.from), units::Tokens(row.count));
      }
      const std::int32_t filled = n + fill.beside(n);
      return cost::predict(kStraight, s) + units::microseconds(4'000) * (filled / kRowTile) +
             units::microseconds(stray_us_) * (filled % kRowTile);
    };
  }

 private:
  std::int64_t stray_us_;
};

// Rows left over are filled up from the number on from which that is faster: never where they cost
// a quarter of a tile, three of them at half, two of them at nearly a whole one. The law then says
// what each number of decodes takes, filled up.
TEST(Calibration, FillsUpRowsWhereThatIsFaster) {
  const auto fill_with = [](std::int64_t stray_us) {
    Tiled engine(stray_us);
    return run_trials(kLimits, units::seconds(30), engine.runner()).fill.least;
  };
  EXPECT_EQ(fill_with(1'000), kRowTile);
  EXPECT_EQ(fill_with(2'000), 3);
  EXPECT_EQ(fill_with(3'500), 2);

  Tiled engine(2'000);
  const auto law =
      calibrated_law(run_trials(kLimits, units::seconds(30), engine.runner()).samples)->law;
  constexpr std::array<std::int64_t, 8> kTilesMs{2, 4, 4, 4, 6, 8, 8, 8};
  for (std::size_t i = 0; i < kTilesMs.size(); ++i) {
    const auto s = shape(static_cast<std::int64_t>(i) + 1, 200, 0);
    const units::Nanos expected = cost::predict(kStraight, s) + units::milliseconds(kTilesMs[i]);
    EXPECT_NEAR(static_cast<double>(cost::predict(law, s).value()),
                static_cast<double>(expected.value()), 0.02 * static_cast<double>(expected.value()))
        << i + 1 << " decodes";
  }
}

// What calibration finds for an engine that takes `row_by_row` longer for each row and token before
// it in chunks of less than a tile.
std::int64_t attention_per_token(units::Nanos row_by_row, const domain::StepCoefficients& law) {
  const TrialRunner run = [&](const std::vector<TrialRow>& rows, const RowFill& fill) {
    const TrialRow& row = rows.front();
    const std::int32_t behind = rows.size() > 1 ? 0 : fill.behind(row.count, row.from);
    const std::int32_t count = row.count + behind;
    const bool tile = count >= kChunkTile;
    return cost::predict(law, shape(0, 0, count)) +
           row_by_row * (tile ? 0 : count * (row.from + row.count / 2));
  };
  return run_trials(kLimits, units::seconds(30), run).fill.attention_per_token;
}

// How much attention row by row takes as long as one more token is found to within a tenth, where
// chunks of less than a tile take their rows one by one; where none do, it is never worth a token.
TEST(Calibration, FindsWhatATileOfAttentionIsWorth) {
  constexpr units::Nanos kRowByRow = units::microseconds(3);
  domain::StepCoefficients large_base = kStraight;
  large_base.base_fs *= 50;
  for (const auto& law : {kStraight, large_base}) {
    const units::Nanos token =
        (cost::predict(law, shape(0, 0, 128)) - cost::predict(law, shape(0, 0, 64))) / 64;
    const double expected =
        static_cast<double>(token.value()) / static_cast<double>(kRowByRow.value());
    EXPECT_NEAR(static_cast<double>(attention_per_token(kRowByRow, law)), expected, expected / 10);
    EXPECT_EQ(attention_per_token(units::Nanos(0), law), RowFill::kNeverTiled);
  }
}

// A step larger than any that was measured costs at least as much as the largest measured one.
TEST(Calibration, DoesNotMakeUnmeasuredStepsFree) {
  std::vector<fitting::Sample> samples;
  for (std::int64_t n = 1; n <= 16; ++n) {
    samples.push_back({shape(0, 0, n), units::microseconds(1000 + 50 * n)});
    samples.push_back({shape(n, 10, 0), units::microseconds(1000 + 50 * n)});
  }
  const auto law = calibrated_law(samples)->law;
  EXPECT_GE(cost::predict(law, shape(0, 0, 512)), units::microseconds(10'000));
}

// The series stops at its budget: the step that crosses it is the last one.
TEST(Calibration, KeepsItsBudget) {
  Modelled engine(kStraight);
  const units::Nanos budget = units::seconds(2);
  run_trials(kLimits, budget, engine.runner());
  const units::Nanos longest = cost::predict(kStraight, shape(16, 600, 512));
  EXPECT_LE(engine.total(), budget + longest);
}

// An engine too slow for the budget still gets a law that a single decode and a chunk obey.
TEST(Calibration, MeasuresTheEssentialsOfASlowEngine) {
  domain::StepCoefficients slow = kStraight;
  slow.base_fs *= 200;
  slow.per_token_fs[2] *= 200;
  Modelled engine(slow);
  const auto law =
      calibrated_law(run_trials(kLimits, units::seconds(1), engine.runner()).samples)->law;
  const std::int64_t expected = cost::predict(slow, shape(0, 0, 128)).value();
  EXPECT_NEAR(static_cast<double>(cost::predict(law, shape(0, 0, 128)).value()),
              static_cast<double>(expected), 0.2 * static_cast<double>(expected));
}

// Every trial step is one that the engine's limits allow.
TEST(Calibration, TrialsStayWithinTheLimits) {
  const TrialLimits tight{
      .max_sequences = 3, .max_step_tokens = 20, .max_context = 100, .kv_tokens = 256};
  std::vector<std::int32_t> held(3, 0);
  run_trials(tight, units::seconds(1000), [&](const std::vector<TrialRow>& rows, const RowFill&) {
    std::int32_t tokens = 0;
    for (std::size_t i = rows.size(); rows.size() > 1 && i < held.size(); ++i) held[i] = 0;
    for (const TrialRow& row : rows) {
      tokens += row.count;
      EXPECT_GE(row.sequence, 0);
      EXPECT_LT(row.sequence, 3);
      EXPECT_LE(row.from, held[static_cast<std::size_t>(row.sequence)]);
      EXPECT_LE(row.from + row.count, 100);
      if (!row.decode) held[static_cast<std::size_t>(row.sequence)] = row.from + row.count;
    }
    EXPECT_LE(tokens, 20);
    EXPECT_LE(held[0] + held[1] + held[2] + 3, 256);
    return units::microseconds(10);
  });
}

}  // namespace
}  // namespace tidegate::engines::llama
