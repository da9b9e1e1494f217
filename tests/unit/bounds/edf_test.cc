// Earliest deadline first is optimal in the fluid model: whenever any schedule meets all deadlines,
// so does it (Dertouzos, "Control robotics", 1974). Three answers to "is this feasible?" that have
// nothing in common must agree: a maximum flow through the slots of time, a run of the policy, and
// the search for an overfull window that the interval programme is built on.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cstdint>
#include <queue>
#include <vector>

#include "bounds/windows.h"
#include "units/prng.h"

namespace tidegate::bounds {
namespace {

constexpr int kEnd = 12;  // releases, due times and work are whole numbers up to this

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Edge = Traits::edge_descriptor;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, long,
                    boost::property<boost::edge_residual_capacity_t, long,
                                    boost::property<boost::edge_reverse_t, Edge>>>>;

class Flow {
 public:
  explicit Flow(std::size_t nodes) : network_(nodes) {}

  void add(std::size_t from, std::size_t to, long capacity) {
    const Edge there = boost::add_edge(from, to, network_).first;
    const Edge back = boost::add_edge(to, from, network_).first;
    boost::put(boost::edge_capacity, network_, there, capacity);
    boost::put(boost::edge_capacity, network_, back, 0L);
    boost::put(boost::edge_reverse, network_, there, back);
    boost::put(boost::edge_reverse, network_, back, there);
  }
  long most(std::size_t source, std::size_t sink) {
    return boost::push_relabel_max_flow(network_, source, sink);
  }

 private:
  Network network_;
};

// Source -> job (its work) -> each slot of its window -> sink (the slot's capacity): all work fits
// if and only if the largest flow carries all of it.
bool feasible_by_flow(const std::vector<Load>& loads, long capacity) {
  const std::size_t source = 0;
  const std::size_t sink = 1;
  const std::size_t first_slot = 2;
  const std::size_t first_job = first_slot + kEnd;
  Flow flow(first_job + loads.size());
  long work = 0;
  for (std::size_t slot = 0; slot < kEnd; ++slot) flow.add(first_slot + slot, sink, capacity);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto own = static_cast<long>(loads[i].work_s);
    work += own;
    flow.add(source, first_job + i, own);
    const auto end = static_cast<std::size_t>(loads[i].due_s);
    for (auto slot = static_cast<std::size_t>(loads[i].release_s); slot < end; ++slot) {
      flow.add(first_job + i, first_slot + slot, own);
    }
  }
  return flow.most(source, sink) == work;
}

struct Waiting {
  double due = 0;
  double work = 0;
  bool operator>(const Waiting& other) const { return due > other.due; }
};

using Line = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;

// Works on the earliest deadlines from `now` to `until`. True when something is late.
bool misses_before(double until, double now, double capacity, Line& line) {
  while (!line.empty() && now < until) {
    Waiting first = line.top();
    line.pop();
    const double done = std::min(until, now + first.work / capacity);
    first.work -= (done - now) * capacity;
    now = done;
    if (first.work > 1e-9) {
      line.push(first);
    } else if (now > first.due + 1e-9) {
      return true;
    }
  }
  return false;
}

// Everything goes to the earliest deadline, from release to release. True when something is late.
bool edf_misses(std::vector<Load> loads, double capacity) {
  std::sort(loads.begin(), loads.end(),
            [](const Load& a, const Load& b) { return a.release_s < b.release_s; });
  Line line;
  double now = 0;
  for (std::size_t i = 0; i <= loads.size(); ++i) {
    const double until = i < loads.size() ? loads[i].release_s : 1e9;
    if (misses_before(until, now, capacity, line)) return true;
    now = until;
    if (i < loads.size()) line.push({loads[i].due_s, loads[i].work_s});
  }
  return false;
}

std::vector<Load> random_loads(units::Prng& prng) {
  std::vector<Load> loads;
  for (auto count = prng.between(1, 9); count > 0; --count) {
    const auto release = prng.between(0, kEnd - 1);
    const auto due = prng.between(release + 1, kEnd);
    loads.push_back({static_cast<double>(release), static_cast<double>(due),
                     static_cast<double>(prng.between(1, 4))});
  }
  return loads;
}

// Feasible by maximum flow <=> earliest deadline first misses nothing <=> no window is overfull.
TEST(EarliestDeadlineFirst, MissesNothingWheneverTheMaximumFlowSaysFeasible) {
  units::Prng prng(31);
  int feasible = 0;
  constexpr int kCases = 10'000;
  for (int i = 0; i < kCases; ++i) {
    const std::vector<Load> loads = random_loads(prng);
    const long capacity = prng.between(1, 3);
    const bool fits = feasible_by_flow(loads, capacity);
    ASSERT_EQ(fits, !edf_misses(loads, static_cast<double>(capacity))) << "case " << i;
    ASSERT_EQ(fits, overfull(loads, static_cast<double>(capacity), 1).empty()) << "case " << i;
    feasible += fits ? 1 : 0;
  }
  // Both answers are common, or the test would show nothing.
  EXPECT_GT(feasible, kCases / 10);
  EXPECT_LT(feasible, kCases * 9 / 10);
}

}  // namespace
}  // namespace tidegate::bounds
