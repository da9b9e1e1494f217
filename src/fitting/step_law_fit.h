// Fits the step-time law (cost/step_law.h) to measured steps: offline to published GPU profiles, at
// start to the calibration steps of an engine.
//
// Minimises the relative error, robustly (iteratively reweighted towards least absolute error),
// with all coefficients >= 0; the knees are searched on a grid of powers of two. Floating point:
// this room produces coefficients and decides nothing. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "cost/step_law.h"
#include "domain/engine_spec.h"
#include "units/quantity.h"
#include "units/result.h"

namespace tidegate::fitting {

struct Sample {
  cost::StepShape shape;
  units::Nanos time{0};
};

// Relative errors |predicted - measured| / measured over a set of samples.
struct FitError {
  double median = 0;
  double p90 = 0;
};

struct StepLawFit {
  domain::StepCoefficients law;
  FitError error;  // on the samples that were fitted
};

struct FitOptions {
  int most_knees = 2;  // 0 to 2; with few samples fewer: none below 12, one below 40
  // Rows that the kernels compute together; 0: the law gets no such term. It has to earn its place
  // like a knee.
  std::int64_t row_tile = 0;
};

// Fails when there are fewer than two samples or one with an empty shape or a time <= 0.
// O(samples), some milliseconds.
units::Result<StepLawFit> fit_step_law(std::span<const Sample> samples,
                                       const FitOptions& options = {});

// How well a law predicts samples (for points that a fit did not see).
FitError error_of(const domain::StepCoefficients& law, std::span<const Sample> samples);

}  // namespace tidegate::fitting
