// What happens next: the event queue of the virtual clock. Events at the same instant come out in
// the order in which they were put in, so that a run is one sequence and no other. One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "units/quantity.h"

namespace tidegate::sim {

enum class Happening : std::uint8_t {
  kArrival,    // the next request arrives
  kHangUp,     // subject: request
  kDelivery,   // subject: index of a message to an engine
  kStepDone,   // subject: engine
  kTelemetry,  // subject: engine
  kReport,     // subject: index of a state report on its way to the pool
  kPoolTimer,  // the pool asked to be woken
  kFault,      // subject: index of a fault that begins
  kLost,       // subject: index of a fault whose engine's loss the pool hears of
  kRepair,     // subject: index of a fault that ends
  kReturn,     // subject: request that a refused caller sends again
};

struct Item {
  units::Instant at;
  std::uint64_t order = 0;
  Happening what = Happening::kArrival;
  std::uint64_t subject = 0;
};

class Agenda {
 public:
  void put(units::Instant at, Happening what, std::uint64_t subject);
  bool empty() const { return heap_.empty(); }
  // REQUIRES: not empty.
  units::Instant next_at() const { return heap_.front().at; }
  Item take();

 private:
  std::vector<Item> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace tidegate::sim
