// "Did you mean": the known name nearest to a mistyped one. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::units {

// The optimal string alignment distance: insertions, deletions, substitutions and swaps of two
// neighbours, each counting one (Damerau, 1964). O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known` within a third of the word's length (at least 1, the first of equals), or
// empty when none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// What to say about a name that is not in `known`: "did you mean 'x'?" or "known: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace tidegate::units
