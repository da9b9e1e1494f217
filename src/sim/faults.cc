// What breaks during a run: engines that crash and come back in a new life, and engines that are
// slow for a while. A fault of an engine that is down already has no effect.
#include "sim/simulator.h"

namespace tidegate::sim {

using units::Instant;

void Simulator::schedule_faults() {
  for (std::size_t i = 0; i < world_.faults.size(); ++i) {
    agenda_.put(world_.faults[i].from, Happening::kFault, i);
    if (world_.faults[i].until != Instant::never()) {
      agenda_.put(world_.faults[i].until, Happening::kRepair, i);
    }
  }
}

void Simulator::begin_fault(std::size_t index) {
  const Fault& fault = world_.faults[index];
  if (!engines_[fault.engine]) return;
  if (!fault.crash) return engines_[fault.engine]->slow_down(fault.slowdown);
  retire(fault.engine);
  down_by_[fault.engine] = index + 1;
  agenda_.put(now_ + world_.physics.telemetry_lag, Happening::kLost, index);
}

void Simulator::tell_lost(std::size_t index) {
  const std::size_t engine = world_.faults[index].engine;
  if (down_by_[engine] != index + 1) return;  // back already: its new life has told the same
  const domain::EngineSpec& spec = world_.engines[engine].batch.spec;
  tell(domain::EngineLost{spec.id, spec.epoch});
}

void Simulator::end_fault(std::size_t index) {
  const Fault& fault = world_.faults[index];
  if (!fault.crash) {
    if (engines_[fault.engine]) engines_[fault.engine]->slow_down(units::Ppm(units::kMillion));
    return;
  }
  if (down_by_[fault.engine] != index + 1) return;
  down_by_[fault.engine] = 0;
  domain::EngineSpec& spec = world_.engines[fault.engine].batch.spec;
  spec.epoch = units::Epoch(spec.epoch.value() + 1);
  engines_[fault.engine] = make_engine(fault.engine);
  reports_[fault.engine].preemptions_total = 0;
  tell(domain::EngineJoined{spec});
}

// Ends the engine's life, keeping what it had done.
void Simulator::retire(std::size_t engine) {
  const batch::BatchCounters& counters = engines_[engine]->batch().counters();
  retired_.busy += engines_[engine]->busy();
  retired_.preemptions += counters.preemptions;
  retired_.recomputed += counters.recomputed_tokens;
  engines_[engine].reset();
}

}  // namespace tidegate::sim
