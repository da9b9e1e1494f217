// Measures the step-time law of an engine before it serves: runs a growing series of steps (decodes
// of 1..N sequences behind short and long contexts, chunks, both mixed), to which fitting/ fits the
// coefficients. One owner, on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engines/llama/row_fill.h"
#include "fitting/step_law_fit.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::engines::llama {

// The law that fits `samples` best, with one correction: where tokens beyond a knee came out free,
// because no sample lies there or noise hid them, they keep the slope before it.
// Error: as fitting::fit_step_law().
units::Result<fitting::StepLawFit> calibrated_law(std::span<const fitting::Sample> samples);

// One row of a trial step: `count` tokens of `sequence` from position `from` on.
struct TrialRow {
  std::int32_t sequence = 0;
  std::int32_t from = 0;
  std::int32_t count = 0;
  bool decode = false;
};

struct TrialLimits {
  std::int32_t max_sequences = 1;
  std::int32_t max_step_tokens = 1;
  std::int32_t max_context = 1;
  std::int32_t kv_tokens = 1;
};

// Runs one step, filled up so, and says how long it took; <= 0 ends the series. Sequences are empty
// at first and keep what was run; a row drops what its sequence holds behind `from`, and several
// rows, which are of the first sequences, empty all those behind.
using TrialRunner = std::function<units::Nanos(const std::vector<TrialRow>&, const RowFill&)>;

struct Trials {
  std::vector<fitting::Sample> samples;
  RowFill fill;  // what came out fastest, and what the samples were taken with
};

struct Calibration {
  fitting::StepLawFit fit;
  RowFill fill;
};

// Runs the series until it is done or has taken `budget` of measured time; a first few steps run
// whatever the budget, since no law can be fitted without them.
Trials run_trials(const TrialLimits& limits, units::Nanos budget, const TrialRunner& run);

}  // namespace tidegate::engines::llama
