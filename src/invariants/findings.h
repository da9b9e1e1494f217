// Collects the violations of one check. The sentence is only formatted when the condition fails, so
// a check that holds costs a comparison. One owner.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "invariants/violation.h"

namespace tidegate::invariants {

class Findings {
 public:
  // Notes a violation unless `holds`.
  template <class... Args>
  void expect(bool holds, Invariant invariant, fmt::format_string<Args...> format, Args&&... args) {
    if (holds) return;
    violations_.push_back({invariant, fmt::format(format, std::forward<Args>(args)...)});
  }
  // Hands over what was found and starts empty.
  Violations take() { return std::exchange(violations_, {}); }

 private:
  Violations violations_;
};

}  // namespace tidegate::invariants
