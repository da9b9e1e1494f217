#include "fitting/step_law_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fitting/non_negative_least_squares.h"

namespace tidegate::fitting {
namespace {

using domain::StepCoefficients;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Knees = std::array<std::int64_t, 2>;

// How rows go into tiles: `stray` is the part of a tile's time that a row left over takes.
struct Tiles {
  std::int64_t rows = 0;  // 0: there are none
  double stray = 0;
};

// What of the law is searched; the rest is linear in its coefficients.
struct Form {
  Knees knees{};
  Tiles tiles;
};

constexpr double kFemtosPerNano = 1e6;
constexpr int kReweightings = 6;
constexpr double kErrorFloor = 0.004;  // relative errors below this count alike
constexpr std::size_t kSamplesForOneKnee = 12;
constexpr std::size_t kSamplesForTwoKnees = 40;
// A further knee has to earn its place: it must cut the mean error by this factor.
constexpr double kKneeGain = 0.97;
constexpr std::array<std::int64_t, 9> kGrid{4, 8, 16, 32, 64, 128, 256, 512, 1024};

constexpr std::array<double, 7> kStrays{0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1};

// Columns: 1, three segments of m, [P > 0], n, K, X, tiles.
constexpr Index kColumns = 9;

double tiles_of(const cost::StepShape& shape, const Tiles& tiles) {
  if (tiles.rows == 0) return 0;
  const std::int64_t rows = shape.decodes + (shape.prefill_tokens > 0 ? 1 : 0);
  const std::int64_t full = rows / tiles.rows;
  const std::int64_t strays = rows % tiles.rows;
  return static_cast<double>(full) + std::min(tiles.stray * static_cast<double>(strays), 1.0);
}

void fill_row(MatrixXd& a, Index row, const cost::StepShape& shape, const Form& form) {
  const Knees& knees = form.knees;
  const std::int64_t m = shape.decodes + shape.prefill_tokens;
  const std::int64_t first = std::min(m, knees[0]);
  const std::int64_t second = std::min(m, knees[1]) - first;
  a(row, 0) = 1;
  a(row, 1) = static_cast<double>(first);
  a(row, 2) = static_cast<double>(second);
  a(row, 3) = static_cast<double>(m - first - second);
  a(row, 4) = shape.prefill_tokens > 0 ? 1 : 0;
  a(row, 5) = static_cast<double>(shape.decodes);
  a(row, 6) = static_cast<double>(shape.kv_tokens);
  a(row, 7) = static_cast<double>(shape.attention);
  a(row, 8) = tiles_of(shape, form.tiles);
}

// Each row divided by its measured time: the target is 1 everywhere, the residual is relative.
MatrixXd relative_rows(std::span<const Sample> samples, const Form& form) {
  MatrixXd a(static_cast<Index>(samples.size()), kColumns);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto row = static_cast<Index>(i);
    fill_row(a, row, samples[i].shape, form);
    a.row(row) /= static_cast<double>(samples[i].time.value());
  }
  return a;
}

VectorXd fit_relative(const MatrixXd& a) {
  const VectorXd ones = VectorXd::Ones(a.rows());
  VectorXd x = non_negative_least_squares(a, ones);
  for (int i = 0; i < kReweightings; ++i) {
    const VectorXd weight =
        ((a * x - ones).cwiseAbs().array() + kErrorFloor).sqrt().inverse().matrix();
    x = non_negative_least_squares(weight.asDiagonal() * a, weight);
  }
  return x;
}

std::int64_t femtos(double nanos) {
  constexpr double kLargest = 9e18;
  return static_cast<std::int64_t>(std::llround(std::min(nanos * kFemtosPerNano, kLargest)));
}

StepCoefficients to_law(const VectorXd& x, const Form& form) {
  StepCoefficients law;
  law.base_fs = femtos(x[0]);
  law.knees = {units::Tokens(form.knees[0]), units::Tokens(form.knees[1])};
  law.per_token_fs = {femtos(x[1]), femtos(x[2]), femtos(x[3])};
  law.prefill_fs = femtos(x[4]);
  law.per_decode_fs = femtos(x[5]);
  law.per_kv_token_fs = femtos(x[6]);
  law.per_attention_fs = femtos(x[7]);
  if (x[8] <= 0) return law;
  law.row_tile = form.tiles.rows;
  law.tile_fs = femtos(x[8]);
  law.stray_fs = femtos(x[8] * form.tiles.stray);
  return law;
}

struct Candidate {
  double mean_error = 0;
  Form form;
  StepCoefficients law;
};

Candidate fit_with(std::span<const Sample> samples, const Form& form) {
  const MatrixXd a = relative_rows(samples, form);
  const VectorXd x = fit_relative(a);
  return {(a * x - VectorXd::Ones(a.rows())).cwiseAbs().mean(), form, to_law(x, form)};
}

void keep_better(Candidate& best, const Candidate& next, double factor) {
  if (next.mean_error < best.mean_error * factor) best = next;
}

std::optional<units::Error> problem_with(std::span<const Sample> samples) {
  if (samples.size() < 2) return units::Error{"samples", "a fit needs at least two measured steps"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].shape.empty() || samples[i].time <= units::Nanos(0)) {
      return units::Error{"sample " + std::to_string(i),
                          "a measured step must contain work and take longer than 0 ns"};
    }
  }
  return std::nullopt;
}

double quantile(std::vector<double>& values, double q) {
  const auto rank = std::lround(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

Candidate best_of_two_knees(std::span<const Sample> samples, Candidate best) {
  for (std::size_t i = 0; i < kGrid.size(); ++i) {
    for (std::size_t j = i + 1; j < kGrid.size(); ++j) {
      keep_better(best, fit_with(samples, {{kGrid[i], kGrid[j]}, best.form.tiles}), 1.0);
    }
  }
  return best;
}

// `best` with as many knees as the samples bear out.
Candidate with_knees(std::span<const Sample> samples, int most_knees, Candidate best) {
  if (most_knees >= 1 && samples.size() >= kSamplesForOneKnee) {
    Candidate one = best;
    for (const std::int64_t knee : kGrid) {
      keep_better(one, fit_with(samples, {{0, knee}, best.form.tiles}), 1.0);
    }
    keep_better(best, one, kKneeGain);
  }
  if (most_knees >= 2 && samples.size() >= kSamplesForTwoKnees) {
    keep_better(best, best_of_two_knees(samples, best), kKneeGain);
  }
  return best;
}

Candidate best_of_tiles(std::span<const Sample> samples, std::int64_t rows) {
  Candidate best = fit_with(samples, {});
  for (const double stray : kStrays) {
    keep_better(best, fit_with(samples, {{}, {rows, stray}}), 1.0);
  }
  return best;
}

}  // namespace

units::Result<StepLawFit> fit_step_law(std::span<const Sample> samples, const FitOptions& options) {
  if (auto problem = problem_with(samples)) return tl::unexpected(*problem);
  Candidate best = with_knees(samples, options.most_knees, fit_with(samples, {}));
  if (options.row_tile > 0 && samples.size() >= kSamplesForOneKnee) {
    const Candidate tiles = best_of_tiles(samples, options.row_tile);
    keep_better(best, with_knees(samples, options.most_knees, tiles), kKneeGain);
  }
  return StepLawFit{best.law, error_of(best.law, samples)};
}

FitError error_of(const StepCoefficients& law, std::span<const Sample> samples) {
  std::vector<double> errors;
  errors.reserve(samples.size());
  for (const Sample& sample : samples) {
    const auto predicted = static_cast<double>(cost::predict(law, sample.shape).value());
    const auto measured = static_cast<double>(sample.time.value());
    errors.push_back(std::abs(predicted - measured) / measured);
  }
  if (errors.empty()) return {};
  return {quantile(errors, 0.5), quantile(errors, 0.9)};
}

}  // namespace tidegate::fitting
