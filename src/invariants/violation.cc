#include "invariants/violation.h"

#include <array>
#include <cstddef>

namespace tidegate::invariants {

std::string_view name(Invariant invariant) {
  constexpr std::array<std::string_view, 13> kNames = {"S1", "S2", "S3",  "S4",  "S5",  "S6", "S7",
                                                       "S8", "S9", "S10", "S11", "S12", "L4"};
  return kNames.at(static_cast<std::size_t>(invariant) - 1);
}

std::string to_text(const Violations& violations) {
  std::string text;
  for (const Violation& v : violations) {
    text += std::string(name(v.invariant)) + ": " + v.sentence + "\n";
  }
  return text;
}

}  // namespace tidegate::invariants
