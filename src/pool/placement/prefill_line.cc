#include "pool/placement/prefill_line.h"

#include <algorithm>

#include "cost/step_law.h"
#include "units/check.h"

namespace tidegate::pool {

using domain::Tier;
using units::Tokens;

Work prefill_work(Tokens prompt, Tokens left) {
  cost::StepShape shape;
  shape.add_chunk(prompt - left, left);
  return {.requests = 1, .prefill = left, .attention = shape.attention};
}

void PrefillLine::reserve(std::size_t places) {
  places_.reserve(places);
  sums_.reserve(places + 1);
}

void PrefillLine::clear() {
  places_.clear();
  changed_at(0);
}

void PrefillLine::changed_at(std::size_t position) {
  summed_ = std::min(summed_, position);
  sums_.resize(places_.size() + 1);
}

void PrefillLine::insert(const Pledge& pledge, PledgeIndex index) {
  const std::size_t position = count_before(pledge.tier, pledge.key);
  places_.insert(
      places_.begin() + static_cast<std::ptrdiff_t>(position),
      {pledge.tier, pledge.key, index, prefill_work(pledge.footprint.prompt, pledge.prefill_left)});
  changed_at(position);
}

void PrefillLine::erase(const Pledge& pledge) {
  const std::size_t position = count_before(pledge.tier, pledge.key);
  TIDEGATE_CHECK(position < places_.size() && places_[position].key == pledge.key);
  places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(position));
  changed_at(position);
}

void PrefillLine::update(std::size_t position, const Pledge& pledge) {
  places_[position].work = prefill_work(pledge.footprint.prompt, pledge.prefill_left);
  changed_at(position);
}

std::size_t PrefillLine::count_before(Tier tier, const OrderKey& key) const {
  const auto first_to = [&](const Place& place) {
    return place.tier != tier ? place.tier < tier : place.key < key;
  };
  // Usually a newcomer is due last.
  if (places_.empty() || first_to(places_.back())) return places_.size();
  const auto at = std::partition_point(places_.begin(), places_.end(), first_to);
  return static_cast<std::size_t>(at - places_.begin());
}

std::size_t PrefillLine::count_before(Tier tier) const {
  const auto first_to = [&](const Place& place) { return place.tier < tier; };
  const auto at = std::partition_point(places_.begin(), places_.end(), first_to);
  return static_cast<std::size_t>(at - places_.begin());
}

Work PrefillLine::work_of_first(std::size_t count) const {
  for (; summed_ < count; ++summed_) {
    sums_[summed_ + 1] = sums_[summed_];
    sums_[summed_ + 1] += places_[summed_].work;
  }
  return sums_[count];
}

}  // namespace tidegate::pool
