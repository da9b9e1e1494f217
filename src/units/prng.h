// Seeded random numbers with the same bytes on every compiler and library.
//
// xoshiro256** (Blackman and Vigna, 2018) seeded by splitmix64. The standard library's engines
// would do, but its distributions are implementation-defined, so the few that the core needs are
// here and use integers only. One owner at a time; copy it to fork a stream.
#pragma once

#include <array>
#include <cstdint>

#include "units/quantity.h"

namespace tidegate::units {

class Prng {
 public:
  explicit Prng(std::uint64_t seed);

  // The next 64 bits.
  std::uint64_t next();
  // Uniform in [0, bound), without modulo bias (Lemire, 2019). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high]. REQUIRES: low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // True with the given probability.
  bool chance(Ppm probability);

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tidegate::units
