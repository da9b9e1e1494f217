#include "bounds/fluid.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace tidegate::bounds {
namespace {

double need(const Option& option, Resource resource) {
  double sum = 0;
  for (const Part& part : option.parts) sum += part.need_s[static_cast<std::size_t>(resource)];
  return sum;
}

struct Item {
  double due = 0;
  double work = 0;
  double weight = 0;
};

// Weighs the worst first.
struct ByWorst {
  bool operator()(const Item& a, const Item& b) const {
    return a.work * b.weight < b.work * a.weight;
  }
};

// Jobs of one model in one scalar.
struct Surrogate {
  std::vector<Item> items;  // without those that cost nothing
  double free_weight = 0;   // of those
  double rate = 0;          // surrogate seconds in a second
  double begin = std::numeric_limits<double>::infinity();
  double end = 0;
  double needed = 0;
};

// Makes the mean needs of the groups equal to that of the first that is used.
std::vector<double> factors(std::span<const Job> jobs, std::span<const Group> groups,
                            Resource resource) {
  std::vector<double> sums(groups.size(), 0);
  std::vector<double> counts(groups.size(), 0);
  for (const Job& job : jobs) {
    for (const Option& option : job.options) {
      sums[option.group] += need(option, resource);
      counts[option.group] += 1;
    }
  }
  std::vector<double> result(groups.size(), 0);
  double reference = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (counts[g] == 0) continue;
    const double mean = sums[g] / counts[g];
    if (reference == 0) reference = mean;
    result[g] = mean > 0 ? reference / mean : 1;
  }
  return result;
}

// The times between which one of the job's options could run.
std::pair<double, double> reach_of(const Job& job) {
  std::pair<double, double> reach = {std::numeric_limits<double>::infinity(), 0};
  for (const Option& option : job.options) {
    for (const Part& part : option.parts) {
      reach.first = std::min(reach.first, part.release_s);
      reach.second = std::max(reach.second, part.due_s);
    }
  }
  return reach;
}

Surrogate surrogate(std::span<const Job> jobs, std::span<const Group> groups, Resource resource) {
  const std::vector<double> factor = factors(jobs, groups, resource);
  Surrogate result;
  for (std::size_t g = 0; g < groups.size(); ++g) result.rate += factor[g] * groups[g].engines;
  for (const Job& job : jobs) {
    if (job.options.empty() || job.weight <= 0) continue;
    const auto [begin, due] = reach_of(job);
    Item item{due, std::numeric_limits<double>::infinity(), job.weight};
    for (const Option& option : job.options) {
      item.work = std::min(item.work, factor[option.group] * need(option, resource));
    }
    result.begin = std::min(result.begin, begin);
    result.end = std::max(result.end, due);
    result.needed += item.work;
    if (item.work > 0) {
      result.items.push_back(item);
    } else {
      result.free_weight += item.weight;
    }
  }
  return result;
}

double available(const Surrogate& all) {
  return all.end > all.begin ? all.rate * (all.end - all.begin) : 0;
}

}  // namespace

Poured knapsack(std::span<const Job> jobs, std::span<const Group> groups, Resource resource) {
  Surrogate all = surrogate(jobs, groups, resource);
  Poured result{all.free_weight, all.needed, available(all)};
  std::sort(all.items.begin(), all.items.end(), ByWorst());
  double room = result.available;
  for (const Item& item : all.items) {
    result.kept += item.weight * std::min(1.0, room / item.work);
    room = std::max(0.0, room - item.work);
  }
  return result;
}

Poured fluid(std::span<const Job> jobs, std::span<const Group> groups, Resource resource) {
  Surrogate all = surrogate(jobs, groups, resource);
  Poured result{all.free_weight, all.needed, available(all)};
  std::sort(all.items.begin(), all.items.end(),
            [](const Item& a, const Item& b) { return a.due < b.due; });
  std::priority_queue<Item, std::vector<Item>, ByWorst> taken;
  double work = 0;
  for (const Item& item : all.items) {
    taken.push(item);
    work += item.work;
    result.kept += item.weight;
    const double room = all.rate * (item.due - all.begin);
    while (work > room && !taken.empty()) {
      Item worst = taken.top();
      taken.pop();
      const double share = std::min(1.0, (work - room) / worst.work);
      work -= share * worst.work;
      result.kept -= share * worst.weight;
      if (share >= 1) continue;
      worst.work *= 1 - share;
      worst.weight *= 1 - share;
      taken.push(worst);
      break;
    }
  }
  return result;
}

}  // namespace tidegate::bounds
