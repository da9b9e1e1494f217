#include "pool/placement/load_sums.h"

#include <algorithm>

#include "units/check.h"

namespace tidegate::pool {

using units::Nanos;
using units::Tokens;

std::vector<PaceCounts::Count>::iterator PaceCounts::place(Nanos pace) {
  return std::lower_bound(counts_.begin(), counts_.end(), pace,
                          [](const Count& count, Nanos p) { return count.pace < p; });
}

void PaceCounts::add(Nanos pace) {
  const auto at = place(pace);
  if (at != counts_.end() && at->pace == pace) {
    at->times += 1;
  } else {
    counts_.insert(at, {pace, 1});
  }
}

void PaceCounts::remove(Nanos pace) {
  const auto at = place(pace);
  TIDEGATE_CHECK(at != counts_.end() && at->pace == pace);
  if (--at->times == 0) counts_.erase(at);
}

Nanos PaceCounts::tightest() const {
  return counts_.empty() ? Nanos::max() : counts_.front().pace;
}

void LoadSums::reserve(std::size_t pledges) {
  promised_.reserve(pledges);
  running_.reserve(pledges);
}

void LoadSums::clear() {
  sequences_ = 0;
  decodes_ = 0;
  held_ = 0;
  remaining_ = 0;
  variance_ = 0;
  decode_context_ = 0;
  promised_.clear();
  running_.clear();
}

void LoadSums::count(const Pledge& pledge, std::int64_t sign) {
  sequences_ += sign;
  held_ += units::Int128{sign} * pledge.held.value();
  if (pledge.ghost()) return;
  remaining_ += units::Int128{sign} * pledge.remaining.mean.value();
  variance_ += units::Int128{sign} * pledge.remaining.variance;
  const auto keep_pace = [&](PaceCounts& paces) {
    if (pledge.promise.token_pace <= Nanos(0) || pledge.late) return;
    if (sign > 0) {
      paces.add(pledge.promise.token_pace);
    } else {
      paces.remove(pledge.promise.token_pace);
    }
  };
  keep_pace(promised_);
  if (pledge.produced == Tokens(0)) return;
  keep_pace(running_);
  decodes_ += sign;
  decode_context_ += units::Int128{sign} * pledge.context.value();
}

void LoadSums::add(const Pledge& pledge) {
  count(pledge, 1);
}

void LoadSums::remove(const Pledge& pledge) {
  count(pledge, -1);
}

Load LoadSums::load() const {
  Load load;
  load.sequences = sequences_;
  load.decodes = decodes_;
  load.decode_context = Tokens(units::narrow_saturating(decode_context_));
  load.held = Tokens(units::narrow_saturating(held_));
  load.remaining = Tokens(units::narrow_saturating(remaining_));
  load.variance = units::narrow_saturating(variance_);
  load.running_pace = running_.tightest();
  load.promised_pace = promised_.tightest();
  return load;
}

}  // namespace tidegate::pool
