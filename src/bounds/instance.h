// What the bounds are computed from: requests as work that must be done inside windows of time, and
// groups of equal engines that can do it. Nothing here knows about tokens or models' names;
// demand.h makes an instance out of requests and engines. Plain values, seconds throughout.
//
// How to read it: if the promise of a job is kept, then for one of its options and for every part
// of that option at least need[k] engine-seconds of resource k are spent inside
// [release_s, due_s]. An engine has one second of each resource in a second. A job without options
// cannot be kept by anybody.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace tidegate::bounds {

// Four ways to charge the time of an engine's steps to the requests in them, each valid by itself
// (demand.h shows why): by tokens computed, by KV blocks held, by seats taken, and by how full a
// step can be when the pace must be kept.
enum class Resource : std::size_t { kCompute, kMemory, kSeats, kPace };
inline constexpr std::size_t kResourceCount = 4;

// Engine-seconds of each resource.
using Demand = std::array<double, kResourceCount>;

struct Part {
  double release_s = 0;
  double due_s = 0;
  Demand need_s{};
};

// The job runs on engines of one group.
struct Option {
  std::size_t group = 0;  // position in Instance::groups
  std::vector<Part> parts;
};

struct Job {
  std::size_t model = 0;
  double weight = 1;
  std::vector<Option> options;  // every group is a group of `model`
};

// Equal engines of one model.
struct Group {
  std::size_t model = 0;
  double engines = 1;
};

struct Instance {
  std::vector<Group> groups;
  std::vector<Job> jobs;
};

}  // namespace tidegate::bounds
