// Runs a world on a virtual clock and reports what every caller saw. Deterministic: the same world
// and seed give the same decisions, byte for byte (the digest in the report shows it), on every
// compiler. The pool tier and each engine's batch tier are the very objects that serve real
// traffic, or those that the world names instead; only arrivals and step durations are modelled.
// Single-threaded; run several simulators side by side for seeds and policies.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cost/output_lengths.h"
#include "domain/event.h"
#include "journal/digest.h"
#include "pool/scheduler.h"
#include "report/report.h"
#include "sim/agenda.h"
#include "sim/modelled_engine.h"
#include "sim/request_log.h"
#include "sim/world.h"

namespace tidegate::sim {

class Simulator {
 public:
  // `arrivals` gives requests in order of arrival with ids that never repeat; class, tenant and
  // model ids index the tables of `world.pool`. `model_names` are for the report.
  Simulator(World world, Arrivals arrivals, std::vector<std::string> model_names);

  // Runs to the horizon; once. wall_seconds stays 0, and so do decision times without
  // time_decisions(): this code reads no clock.
  report::Run run();

  // Called after every pool step, for an oracle or a progress bar.
  using Observer = std::function<void(const pool::Scheduler&, const domain::Event&,
                                      const std::vector<domain::Decision>&, units::Instant)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  // Called with every counted request when it ends, or when the run does.
  void record(RequestLog::Recorder recorder) { log_.record(std::move(recorder)); }

  // Times every kTimedShare-th pool step with the caller's clock, for the report. What the clock
  // says changes no decision.
  using Clock = std::function<units::Instant()>;
  void time_decisions(Clock clock) { clock_ = std::move(clock); }
  static constexpr std::int64_t kTimedShare = 8;

 private:
  // What engines had done in lives that ended.
  struct Retired {
    units::Nanos busy{0};
    std::int64_t preemptions = 0;
    units::Tokens recomputed{0};
  };
  struct Delivery {
    std::size_t engine = 0;
    std::variant<domain::Assign, domain::Abort> message;
    units::Tokens output{0};  // of an Assign: how long it will really get
  };

  report::Run summary() const;
  report::Timeline empty_timeline();
  void sample_levels(std::size_t engine, const domain::StateReport& report);
  void decide(const domain::Event& event);
  void happen(const Item& item);
  // The engine of this position at the beginning of a life.
  std::unique_ptr<ModelledEngine> make_engine(std::size_t engine);
  // Faults (faults.cc).
  void schedule_faults();
  void begin_fault(std::size_t index);
  void tell_lost(std::size_t index);
  void end_fault(std::size_t index);
  void retire(std::size_t engine);
  void arrive(WorldRequest arrival);
  void schedule_arrival();
  // Callers who ask again (callers.cc).
  void remember(const WorldRequest& arrival);
  void refused(const domain::End& end);
  void come_back(std::uint64_t id);
  void deliver(std::uint64_t index);
  void finish_step(std::size_t engine);
  void send_telemetry(std::size_t engine);
  void kick(std::size_t engine);

  // Feeds one event to the pool and everything that follows from it.
  void tell(domain::Event event);
  void perform(const domain::Decision& decision);
  void post(Delivery delivery);
  void set_timer(units::Instant at);
  void learn(const batch::EngineEvent& event);
  void forward(std::span<const batch::EngineEvent> events);
  // Fills in what the schedulers are told of its output: as world_ has them know it.
  void forecast(WorldRequest& arrival) const;

  World world_;
  Arrivals arrivals_;
  std::optional<WorldRequest> next_arrival_;
  std::map<units::RequestId, WorldRequest> callers_;    // alive, and would ask again
  std::map<units::RequestId, WorldRequest> returning_;  // on their way back
  std::uint64_t returned_ = 0;
  std::unique_ptr<pool::Scheduler> pool_;
  std::vector<std::unique_ptr<ModelledEngine>> engines_;  // null while it is down
  std::vector<std::uint64_t> engine_seeds_;
  std::vector<std::size_t> down_by_;  // by engine: 1 + the fault that keeps it down, 0 when up
  cost::OutputLengths lengths_;
  RequestLog log_;
  std::vector<std::size_t> group_of_engine_;  // in the timeline
  report::Timeline timeline_;
  Agenda agenda_;
  std::vector<Delivery> deliveries_;
  std::vector<std::uint64_t> free_deliveries_;
  std::vector<domain::StateReport> reports_;  // by engine: the last one on its way
  std::deque<domain::Event> pending_;
  bool telling_ = false;
  std::vector<domain::Decision> decided_;  // scratch
  units::Instant now_;
  units::Instant timer_ = units::Instant::never();
  journal::Digest digest_;
  std::int64_t decisions_ = 0;
  std::int64_t steps_ = 0;
  Retired retired_;
  report::Kv kv_;
  Observer observer_;
  Clock clock_;
  std::int64_t pool_steps_ = 0;
  report::Histogram decision_time_;
};

}  // namespace tidegate::sim
