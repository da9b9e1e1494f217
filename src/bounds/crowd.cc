#include "bounds/crowd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace tidegate::bounds {
namespace {

constexpr std::size_t kSizes = 8;  // crowds of one stretch of time

// Jobs can be one crowd only when these numbers are equal.
using Shape = std::vector<std::int64_t>;

double begin_of(const Job& job) {
  return job.options.front().parts.front().release_s;
}

double end_of(const Job& job) {
  double end = 0;
  for (const Part& part : job.options.front().parts) end = std::max(end, part.due_s);
  return end;
}

// All resources together: only their order matters.
double size_of(const Job& job) {
  double sum = 0;
  for (const Part& part : job.options.front().parts) {
    for (const double need : part.need_s) sum += need;
  }
  return sum / job.weight;
}

Shape shape_of(const Job& job) {
  Shape shape;
  for (const Option& option : job.options) {
    shape.push_back(static_cast<std::int64_t>(option.group));
    shape.push_back(static_cast<std::int64_t>(option.parts.size()));
  }
  const double length = std::max(1e-3, end_of(job) - begin_of(job));
  shape.push_back(std::llround(2 * std::log2(length)));
  return shape;
}

using Members = std::vector<const Job*>;

void widen(Part& part, const Part& other) {
  part.release_s = std::min(part.release_s, other.release_s);
  part.due_s = std::max(part.due_s, other.due_s);
  for (std::size_t k = 0; k < kResourceCount; ++k) part.need_s[k] += other.need_s[k];
}

Crowd crowd_of(std::span<const Job* const> members) {
  const auto count = static_cast<double>(members.size());
  Crowd crowd{*members.front(), count};
  for (const Job* job : members.subspan(1)) {
    crowd.job.weight += job->weight;
    for (std::size_t o = 0; o < job->options.size(); ++o) {
      auto& parts = crowd.job.options[o].parts;
      for (std::size_t p = 0; p < parts.size(); ++p) widen(parts[p], job->options[o].parts[p]);
    }
  }
  crowd.job.weight /= count;
  for (Option& option : crowd.job.options) {
    for (Part& part : option.parts) {
      for (double& need : part.need_s) need /= count;
    }
  }
  return crowd;
}

// The i-th of `pieces` nearly equal pieces.
std::span<const Job*> piece(std::span<const Job*> all, std::size_t i, std::size_t pieces) {
  const std::size_t begin = all.size() * i / pieces;
  return all.subspan(begin, all.size() * (i + 1) / pieces - begin);
}

// Cuts jobs of one shape by time, then each stretch by size.
void cut(Members members, std::size_t crowds, std::vector<Crowd>& result) {
  std::stable_sort(members.begin(), members.end(),
                   [](const Job* a, const Job* b) { return begin_of(*a) < begin_of(*b); });
  const std::size_t stretches = std::max<std::size_t>(1, crowds / kSizes);
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto stretch = piece(members, s, stretches);
    std::stable_sort(stretch.begin(), stretch.end(),
                     [](const Job* a, const Job* b) { return size_of(*a) < size_of(*b); });
    const std::size_t sizes =
        std::min(stretch.size(), std::min(kSizes, std::max<std::size_t>(1, crowds)));
    for (std::size_t i = 0; i < sizes; ++i) result.push_back(crowd_of(piece(stretch, i, sizes)));
  }
}

}  // namespace

std::vector<Crowd> crowds(std::span<const Job> jobs, std::size_t most) {
  std::map<Shape, Members> by_shape;
  std::vector<Crowd> result;
  std::size_t count = 0;
  for (const Job& job : jobs) {
    if (job.options.empty() || job.weight <= 0) continue;
    by_shape[shape_of(job)].push_back(&job);
    ++count;
  }
  for (auto& [shape, members] : by_shape) {
    if (count > most) {
      const std::size_t share = members.size() * most / count;
      cut(std::move(members), share, result);
    } else {
      for (const Job* job : members) result.push_back({*job, 1});
    }
  }
  return result;
}

}  // namespace tidegate::bounds
