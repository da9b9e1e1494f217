#include "small_instance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidegate::bounds {
namespace {

// Hands the unit steps of the chosen jobs to free slots within their windows, one job after the
// other, trying every way: a complete search over preemptive schedules.
class Search {
 public:
  Search(const Instance& instance, unsigned chosen) : free_(kSlots, capacity(instance)) {
    for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
      if ((chosen >> i & 1U) != 0) parts_.push_back(instance.jobs[i].options[0].parts[0]);
    }
  }
  bool feasible() {
    return parts_.empty() ||
           place(0, static_cast<int>(parts_[0].release_s), static_cast<int>(parts_[0].need_s[0]));
  }

 private:
  static int capacity(const Instance& instance) {
    return static_cast<int>(instance.groups[0].engines);
  }
  // A job runs on one engine at a time, so it takes a slot once.
  bool place(std::size_t index, int slot, int left) {
    if (left == 0) {
      const std::size_t next = index + 1;
      return next == parts_.size() || place(next, static_cast<int>(parts_[next].release_s),
                                            static_cast<int>(parts_[next].need_s[0]));
    }
    if (slot + left > static_cast<int>(parts_[index].due_s)) return false;
    auto& room = free_[static_cast<std::size_t>(slot)];
    if (room > 0) {
      room -= 1;
      if (place(index, slot + 1, left - 1)) return true;
      room += 1;
    }
    return place(index, slot + 1, left);
  }

  std::vector<Part> parts_;
  std::vector<int> free_;
};

}  // namespace

Job job(double release, double due, double work, double weight) {
  return {0, weight, {{0, {{release, due, {work, work, work, work}}}}}};
}

Instance random_instance(units::Prng& prng, double engines) {
  Instance result{{{0, engines}}, {}};
  const auto count = prng.between(1, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto release = prng.between(0, kSlots - 1);
    const auto due = prng.between(release + 1, kSlots);
    const auto work = prng.between(1, std::min<std::int64_t>(4, due - release));
    result.jobs.push_back(job(static_cast<double>(release), static_cast<double>(due),
                              static_cast<double>(work), static_cast<double>(prng.between(1, 3))));
  }
  return result;
}

double best_share(const Instance& instance) {
  double best = 0;
  double all = 0;
  for (const Job& each : instance.jobs) all += each.weight;
  for (unsigned chosen = 0; chosen < 1U << instance.jobs.size(); ++chosen) {
    double weight = 0;
    for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
      if ((chosen >> i & 1U) != 0) weight += instance.jobs[i].weight;
    }
    if (weight > best && Search(instance, chosen).feasible()) best = weight;
  }
  return best / all;
}

}  // namespace tidegate::bounds
