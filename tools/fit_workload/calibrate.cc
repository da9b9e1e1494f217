#include "calibrate.h"

#include <array>
#include <cmath>
#include <vector>

#include "workload/generator.h"
#include "workload/statistics.h"

namespace tidegate::tools {

using workload::Generator;
using workload::GeneratorSpec;
using workload::Profile;
using workload::Trace;

namespace {

constexpr int kSeeds = 4;

// A point of the grid, as positions in the levels of each coordinate.
constexpr std::size_t kCoordinates = 5;
using Point = std::array<std::size_t, kCoordinates>;

const std::array<std::vector<double>, kCoordinates> kLevels{{
    {150, 15, 8, 5, 3},                                  // clients
    {1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0},            // gap_cv
    {0.0, 0.2, 0.4, 0.7, 1.0, 1.4, 1.8, 2.2, 2.6, 3.0},  // drift_sigma
    {0.0, 0.5, 0.8, 0.9, 0.95},                          // drift_memory
    {2, 5, 10, 20, 60, 300},                             // drift_window_s
}};

void set_to(const Point& point, Profile& profile) {
  profile.clients = static_cast<std::uint32_t>(kLevels[0][point[0]]);
  for (auto& kind : profile.kinds) {
    kind.arrivals.gap_cv = kLevels[1][point[1]];
    kind.arrivals.drift_sigma = kLevels[2][point[2]];
    kind.arrivals.drift_memory = kLevels[3][point[3]];
    kind.arrivals.drift_window_ns = kLevels[4][point[4]] * 1e9;
  }
}

double squared_log(double found, double wanted) {
  if (wanted <= 0) return 0;
  const double distance = std::log(std::max(found, 1e-3) / wanted);
  return distance * distance;
}

Target simulate(const Profile& profile, double length_s) {
  Target sum;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    GeneratorSpec spec;
    spec.length = units::Nanos(static_cast<std::int64_t>(length_s * 1e9));
    spec.hash_block = units::Tokens(0);
    spec.seed = static_cast<std::uint64_t>(seed);
    const Trace trace = workload::collect(std::move(*Generator::create(spec, profile)), {});
    const Target one = target_of(trace, false);
    sum.gap_cv += one.gap_cv / kSeeds;
    sum.dispersion_1s += one.dispersion_1s / kSeeds;
    sum.dispersion_10s += one.dispersion_10s / kSeeds;
    sum.dispersion_60s += one.dispersion_60s / kSeeds;
  }
  return sum;
}

double distance(const Target& found, const Target& wanted) {
  int figures = 0;
  for (const double figure :
       {wanted.gap_cv, wanted.dispersion_1s, wanted.dispersion_10s, wanted.dispersion_60s}) {
    figures += figure > 0 ? 1 : 0;
  }
  const double sum = squared_log(found.gap_cv, wanted.gap_cv) +
                     squared_log(found.dispersion_1s, wanted.dispersion_1s) +
                     squared_log(found.dispersion_10s, wanted.dispersion_10s) +
                     squared_log(found.dispersion_60s, wanted.dispersion_60s);
  return std::sqrt(sum / figures);
}

double distance_at(Profile& profile, const Target& target, const Point& point) {
  set_to(point, profile);
  return distance(simulate(profile, target.length_s), target);
}

struct Found {
  Point point{};
  double distance = 0;
};

// Tries all levels of one coordinate; true when one is better by more than 1 %.
bool improve(Profile& profile, const Target& target, std::size_t coordinate, Found& best) {
  bool moved = false;
  Point trial = best.point;
  for (std::size_t level = 0; level < kLevels[coordinate].size(); ++level) {
    trial[coordinate] = level;
    if (level == best.point[coordinate]) continue;
    const double here = distance_at(profile, target, trial);
    if (here > best.distance * 0.99) continue;
    best = {trial, here};
    moved = true;
  }
  return moved;
}

// From a start, one coordinate after the other is set to its best level until none moves.
double descend(Profile& profile, const Target& target, Point& point) {
  Found best{point, distance_at(profile, target, point)};
  for (bool moved = true; moved;) {
    moved = false;
    // Clients are given by the start: they trade against the drift in a long valley.
    for (std::size_t c = target.gap_cv > 0 ? 1 : 2; c < kCoordinates; ++c) {
      moved = improve(profile, target, c, best) || moved;
    }
  }
  point = best.point;
  return best.distance;
}

}  // namespace

Target target_of(const Trace& trace, bool coarse_clock) {
  const auto s = workload::describe(trace);
  Target target;
  target.length_s = static_cast<double>(trace.rows.back().arrival.value()) / 1e9;
  target.dispersion_60s = s.dispersion_60s;
  if (coarse_clock) return target;
  target.gap_cv = s.gap_cv;
  target.dispersion_1s = s.dispersion_1s;
  target.dispersion_10s = s.dispersion_10s;
  return target;
}

double calibrate(Profile& profile, const Target& target) {
  const bool fast = target.gap_cv > 0;
  Point best{};
  double least = 1e300;
  for (std::size_t clients = 0; clients < (fast ? kLevels[0].size() : 1); ++clients) {
    for (const std::size_t window : {0u, 2u, 4u}) {
      if (!fast && window < 4) continue;
      Point point{clients, fast ? 1u : 0u, fast ? 4u : 1u, 2, window};
      const double here = descend(profile, target, point);
      // Fewer clients than published ones must be worth it.
      if (here > least * (point[0] > best[0] ? 0.9 : 1)) continue;
      least = here;
      best = point;
    }
  }
  set_to(best, profile);
  return least;
}

}  // namespace tidegate::tools
