// What the oracle reports: which invariant does not hold, in one sentence with the numbers. Plain
// values.
//
//   S1  no KV over-commit                      S7  a cancelled request holds nothing
//   S2  blocks are conserved, each accounted   S8  quotas are conserved
//   S3  each request ends exactly once         S9  what can never fit is refused at once
//   S4  none is lost                           S10 placement is valid
//   S5  one live try at most                   S11 a step is valid
//   S6  tokens are conserved                   S12 time is monotone
//   L4  nobody waits without a wake-up
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::invariants {

enum class Invariant : std::uint8_t {
  kS1Memory = 1,
  kS2Blocks,
  kS3OneEnd,
  kS4NoneLost,
  kS5OneTry,
  kS6Tokens,
  kS7Cancel,
  kS8Quota,
  kS9NeverFits,
  kS10Placement,
  kS11Step,
  kS12Time,
  kL4Wake,
};

// "S3"; the list above.
std::string_view name(Invariant invariant);

struct Violation {
  Invariant invariant = Invariant::kS1Memory;
  std::string sentence;
};

using Violations = std::vector<Violation>;

// "S3: request 7 ended twice", one line each; empty when there are none.
std::string to_text(const Violations& violations);

}  // namespace tidegate::invariants
