// The prompts that an engine has still to compute, in the order in which it serves them, with the
// work up to each of them: how much stands in front of a newcomer is a binary search. One owner;
// allocates only when the line grows past what was reserved.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pool/placement/pledge.h"

namespace tidegate::pool {

// Prefill work of `left` tokens at the end of a prompt of `prompt` tokens.
Work prefill_work(units::Tokens prompt, units::Tokens left);

class PrefillLine {
 public:
  struct Place {
    domain::Tier tier = domain::Tier::kWithinShare;
    OrderKey key;
    PledgeIndex pledge = 0;
    Work work;  // still to compute
  };

  void reserve(std::size_t places);
  void clear();
  // O(places).
  void insert(const Pledge& pledge, PledgeIndex index);
  // REQUIRES: it is in the line.
  void erase(const Pledge& pledge);
  // The prefill that is left of the one at `position` changed.
  void update(std::size_t position, const Pledge& pledge);

  std::span<const Place> places() const { return places_; }
  std::size_t size() const { return places_.size(); }
  // How many are served before `key` in `tier`. O(log places).
  std::size_t count_before(domain::Tier tier, const OrderKey& key) const;
  // How many are in a tier before `tier`. O(log places).
  std::size_t count_before(domain::Tier tier) const;
  // What the first `count` have to compute. O(1), after a change O(places).
  Work work_of_first(std::size_t count) const;

 private:
  void changed_at(std::size_t position);

  std::vector<Place> places_;
  // Entry i is the work of the first i; valid for i <= summed_.
  mutable std::vector<Work> sums_ = {Work{}};
  mutable std::size_t summed_ = 0;
};

}  // namespace tidegate::pool
