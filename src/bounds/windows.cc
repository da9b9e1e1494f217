#include "bounds/windows.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace tidegate::bounds {
namespace {

// Below this share of a window's capacity an excess is rounding.
constexpr double kRounding = 1e-9;

// Numbers in a row; finds where the sum of all up to a place is largest. A tree whose nodes know
// the sum of their leaves and the largest sum of a prefix of them.
class LargestPrefix {
 public:
  explicit LargestPrefix(std::size_t size)
      : leaves_(std::bit_ceil(std::max<std::size_t>(size, 1))) {
    nodes_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].at = i;
    for (std::size_t i = size; i < leaves_; ++i) nodes_[leaves_ + i].best = kNone;
    for (std::size_t i = leaves_ - 1; i > 0; --i)
      nodes_[i] = joined(nodes_[2 * i], nodes_[2 * i + 1]);
  }

  void add(std::size_t place, double amount) {
    std::size_t node = leaves_ + place;
    nodes_[node].sum += amount;
    nodes_[node].best += amount;
    for (node /= 2; node > 0; node /= 2) {
      nodes_[node] = joined(nodes_[2 * node], nodes_[2 * node + 1]);
    }
  }

  struct Node {
    double sum = 0;
    double best = 0;  // over the prefixes that end in it
    std::size_t at = 0;
  };

  // The best of the prefixes that end at `first` or later. O(log size).
  Node from(std::size_t first) const {
    Node result = nodes_[leaves_ + first];
    double before = 0;  // sum of what lies left of it
    for (std::size_t node = leaves_ + first; node > 1; node /= 2) {
      if (node % 2 == 0) {
        result = joined(result, nodes_[node + 1]);
      } else {
        before += nodes_[node - 1].sum;
      }
    }
    result.best += before;
    return result;
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  static Node joined(const Node& left, const Node& right) {
    const double across = left.sum + right.best;
    Node node{left.sum + right.sum, left.best, left.at};
    if (across > left.best) {
      node.best = across;
      node.at = right.at;
    }
    return node;
  }

  std::size_t leaves_;
  std::vector<Node> nodes_;
};

std::vector<double> due_times(std::span<const Load> loads) {
  std::vector<double> dues;
  dues.reserve(loads.size());
  for (const Load& load : loads) dues.push_back(load.due_s);
  std::sort(dues.begin(), dues.end());
  dues.erase(std::unique(dues.begin(), dues.end()), dues.end());
  return dues;
}

std::size_t place_of(const std::vector<double>& dues, double due) {
  return static_cast<std::size_t>(std::lower_bound(dues.begin(), dues.end(), due) - dues.begin());
}

// The worst window that begins at each release, where there is one. Sweeps the releases from the
// last to the first; the prefix sum at a due time is the work inside minus capacity * due time.
std::vector<Span> worst_of_each_release(std::vector<Load>& loads, double capacity) {
  std::sort(loads.begin(), loads.end(),
            [](const Load& a, const Load& b) { return a.release_s > b.release_s; });
  const std::vector<double> dues = due_times(loads);
  LargestPrefix excess(dues.size());
  for (std::size_t i = 0; i < dues.size(); ++i) {
    excess.add(i, -capacity * (i == 0 ? dues[0] : dues[i] - dues[i - 1]));
  }
  std::vector<Span> found;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    excess.add(place_of(dues, loads[i].due_s), loads[i].work_s);
    const double begin = loads[i].release_s;
    if (i + 1 < loads.size() && loads[i + 1].release_s == begin) continue;
    const auto first =
        static_cast<std::size_t>(std::upper_bound(dues.begin(), dues.end(), begin) - dues.begin());
    if (first == dues.size()) continue;
    const auto worst = excess.from(first);
    const double end = dues[worst.at];
    const double over = worst.best + capacity * begin;
    if (over > kRounding * (1 + capacity * end)) found.push_back({begin, end, over});
  }
  return found;
}

bool mostly_the_same(const Span& a, const Span& b) {
  const double common = std::min(a.end_s, b.end_s) - std::max(a.begin_s, b.begin_s);
  const double all = std::max(a.end_s, b.end_s) - std::min(a.begin_s, b.begin_s);
  return common > all / 2;
}

}  // namespace

std::vector<Span> overfull(std::vector<Load> loads, double capacity, std::size_t most) {
  std::vector<Span> found = worst_of_each_release(loads, capacity);
  std::stable_sort(found.begin(), found.end(),
                   [](const Span& a, const Span& b) { return a.excess_s > b.excess_s; });
  std::vector<Span> chosen;
  for (const Span& span : found) {
    if (chosen.size() == most) break;
    const auto repeats = [&](const Span& other) { return mostly_the_same(span, other); };
    if (std::none_of(chosen.begin(), chosen.end(), repeats)) chosen.push_back(span);
  }
  return chosen;
}

}  // namespace tidegate::bounds
