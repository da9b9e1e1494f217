// How far apart tenants were served over any stretch of time in which both had requests waiting, in
// tokens with VTC's weights: 1 for one of a prompt, 2 for one of an answer.
// Source: Sheng et al., Fairness in Serving Large Language Models, OSDI 2024. One owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tidegate::bench {

class ServiceGap {
 public:
  explicit ServiceGap(std::size_t tenants)
      : served_(tenants), waiting_(tenants), pairs_(tenants * tenants) {}

  void waits(std::size_t tenant) { waiting_[tenant] += 1; }
  void waits_no_more(std::size_t tenant) {
    waiting_[tenant] -= 1;
    if (waiting_[tenant] > 0) return;
    for (std::size_t other = 0; other < waiting_.size(); ++other) {
      pairs_[index(tenant, other)] = Range{};
    }
  }
  void served(std::size_t tenant, std::int64_t tokens) {
    look(tenant);  // a stretch begins with the difference before its first service
    served_[tenant] += tokens;
    look(tenant);
  }
  std::int64_t widest() const { return widest_; }

 private:
  // Of the difference between a pair while both wait.
  struct Range {
    std::int64_t low = std::numeric_limits<std::int64_t>::max() / 2;
    std::int64_t high = std::numeric_limits<std::int64_t>::min() / 2;
  };
  void look(std::size_t tenant) {
    for (std::size_t other = 0; other < waiting_.size(); ++other) {
      if (other == tenant || waiting_[tenant] == 0 || waiting_[other] == 0) continue;
      const std::size_t a = std::min(tenant, other);
      const std::size_t b = std::max(tenant, other);
      Range& range = pairs_[index(a, b)];
      range.low = std::min(range.low, served_[a] - served_[b]);
      range.high = std::max(range.high, served_[a] - served_[b]);
      widest_ = std::max(widest_, range.high - range.low);
    }
  }
  std::size_t index(std::size_t a, std::size_t b) const {
    return std::min(a, b) * waiting_.size() + std::max(a, b);
  }

  std::vector<std::int64_t> served_, waiting_;
  std::vector<Range> pairs_;
  std::int64_t widest_ = 0;
};

}  // namespace tidegate::bench
