#include "cost/peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "units/prng.h"

namespace tidegate::cost {
namespace {

using units::Prng;
using units::Tokens;

std::vector<Resident> random_residents(Prng& prng, std::int64_t variance) {
  std::vector<Resident> residents(prng.below(12));
  for (auto& resident : residents) {
    resident.occupied = Tokens(prng.between(0, 1'000));
    resident.remaining = {Tokens(prng.between(0, 300)), prng.between(0, variance)};
  }
  return residents;
}

// Tokens held at time t when every sequence grows by one a step and lets go after its last one.
std::int64_t held_at(const std::vector<Resident>& residents, std::int64_t t) {
  std::int64_t held = 0;
  for (const Resident& r : residents) {
    if (r.remaining.mean.value() >= t) held += r.occupied.value() + t;
  }
  return held;
}

double variance_after(const std::vector<Resident>& residents, Tokens end) {
  double variance = 0;
  for (const Resident& r : residents) {
    if (r.remaining.mean >= end) variance += static_cast<double>(r.remaining.variance);
  }
  return variance;
}

// Law: without variance the peak is the largest sum over all moments of a step-by-step simulation.
TEST(Peak, IsTheSimulatedMaximum) {
  Prng prng(41);
  for (int i = 0; i < 2'000; ++i) {
    std::vector<Resident> residents = random_residents(prng, 0);
    std::int64_t peak = 0;
    for (std::int64_t t = 0; t <= 300; ++t) peak = std::max(peak, held_at(residents, t));
    ASSERT_EQ(predicted_peak(residents, 1'650), Tokens(peak));
  }
}

// Law: with variance the peak is the largest, over every end moment, of the sum then plus z
// standard deviations of what runs then (independent sequences, so variances add).
TEST(Peak, AddsDeviationsOfWhatRuns) {
  Prng prng(42);
  for (int i = 0; i < 2'000; ++i) {
    std::vector<Resident> residents = random_residents(prng, 10'000);
    // Ends at distinct moments, so that "what runs then" is not a matter of order.
    for (std::size_t k = 0; k < residents.size(); ++k) {
      residents[k].remaining.mean =
          Tokens(residents[k].remaining.mean.value() * 16 + static_cast<std::int64_t>(k));
    }
    double peak = 0;
    for (const Resident& end : residents) {
      const double variance = variance_after(residents, end.remaining.mean);
      const auto held = held_at(residents, end.remaining.mean.value());
      peak = std::max(peak, static_cast<double>(held) + 1.65 * std::sqrt(variance));
    }
    ASSERT_NEAR(static_cast<double>(predicted_peak(residents, 1'650).value()), peak, 3.0);
  }
}

// Law: the order in which sequences are listed does not matter.
TEST(Peak, DoesNotDependOnOrder) {
  Prng prng(43);
  for (int i = 0; i < 500; ++i) {
    std::vector<Resident> residents = random_residents(prng, 10'000);
    std::vector<Resident> other(residents.rbegin(), residents.rend());
    ASSERT_EQ(predicted_peak(residents, 1'650), predicted_peak(other, 1'650));
  }
}

// Law: one more sequence never lowers the peak, and nothing needs nothing.
TEST(Peak, GrowsWithEverySequence) {
  Prng prng(44);
  EXPECT_EQ(predicted_peak({}, 1'650), Tokens(0));
  for (int i = 0; i < 500; ++i) {
    std::vector<Resident> residents = random_residents(prng, 0);
    std::vector<Resident> more = residents;
    more.push_back({Tokens(prng.between(0, 100)), {Tokens(prng.between(0, 100)), 0}});
    ASSERT_LE(predicted_peak(residents, 1'650), predicted_peak(more, 1'650));
  }
}

}  // namespace
}  // namespace tidegate::cost
