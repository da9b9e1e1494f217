// Small random worlds to hold bounds against: a few engines of one or two models with random laws
// and little memory, every kind of promise, prompts in sessions, callers who hang up, and load from
// idle to several times what the engines bear.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/world.h"

namespace tidegate::bounds_world {

struct RandomWorld {
  sim::World world;
  std::vector<sim::WorldRequest> requests;  // by arrival

  sim::Arrivals arrivals() const;
  std::vector<std::string> model_names() const;
};

// The same seed gives the same world.
RandomWorld random_world(std::uint64_t seed);

}  // namespace tidegate::bounds_world
