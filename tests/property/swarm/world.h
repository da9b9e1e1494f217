// One random world: a pool, its engines, callers that come and go, engines that crash, drain, fail
// steps and talk nonsense, messages that take time; every step is checked by the oracles. In phase
// A trouble rules; in phase B it stops, and then everything must end and nothing may be held
// (L4, S7). A pure function of its seed. Drives the same code as the gateway does, by the same
// seam.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "draw.h"
#include "engine_model.h"
#include "invariants/pool_oracle.h"
#include "journal/digest.h"
#include "journal/record.h"
#include "pool/pool_scheduler.h"

namespace tidegate::swarm {

// What one step of the pool gave, as the oracle is told it (see BatchStep).
struct PoolStep {
  journal::Step step;
  invariants::PoolView view;
};
using PoolTamper = std::function<void(PoolStep&)>;

struct WorldOptions {
  std::uint64_t seed = 0;
  PoolTamper pool_tamper;
  BatchTamper batch_tamper;
  std::function<void(const journal::Step&)> watch;  // sees every step of the pool
};

struct Outcome {
  std::uint64_t digest = 0;
  std::int64_t events = 0;  // told to the pool
  std::int64_t engine_steps = 0;
  std::map<domain::Outcome, std::int64_t> ends;
  // Empty when all is well, else what was violated, and the steps before it.
  invariants::Violations violations;
  std::string story;
};

class World {
 public:
  explicit World(WorldOptions options);
  // Lives the whole life of the world. Call once.
  Outcome run();
  const pool::PoolConfig& config() const { return config_; }

 private:
  struct Engine {
    domain::EngineSpec spec;
    batch::BatchConfig config;
    std::unique_ptr<EngineModel> model;  // empty while it is down
    units::Instant last_up;              // messages of one engine keep their order, both ways
    units::Instant last_down;
  };
  struct ArriveNext {};
  struct ToPool {
    domain::Event event;
  };
  struct ToEngine {
    std::variant<domain::Assign, domain::Abort> message;
  };
  struct StepEnds {
    std::size_t engine = 0;
    units::Epoch epoch;
  };
  struct Restart {
    std::size_t engine = 0;
  };
  using Action = std::variant<ArriveNext, ToPool, ToEngine, StepEnds, Restart>;

  void at(units::Instant when, Action action);
  bool run_next();
  void perform(const ArriveNext& action);
  void perform(const ToPool& action);
  void perform(const ToEngine& action);
  void perform(const StepEnds& action);
  void perform(const Restart& action);

  void tell_pool(const domain::Event& event);
  void send_down(std::variant<domain::Assign, domain::Abort> message, units::EngineId to);
  void send_up(std::size_t index, const domain::Event& event);
  void serve(std::size_t index);
  void join(std::size_t index);
  void make_trouble();
  void crash(std::size_t index);
  void drain(std::size_t index);
  void talk_nonsense(std::size_t index);
  void heal();
  void check_end();
  void note(invariants::Violations found);
  units::Nanos delay();
  bool failed() const { return !outcome_.violations.empty(); }

  WorldOptions options_;
  units::Prng prng_;
  Knobs knobs_;
  pool::PoolConfig config_;
  pool::PoolScheduler pool_;
  invariants::PoolOracle oracle_;
  std::vector<Engine> engines_;
  TrueSizes sizes_;
  std::map<std::pair<units::Instant, std::uint64_t>, Action> agenda_;
  std::uint64_t next_action_ = 0;
  units::Instant now_;
  std::uint64_t next_request_ = 1;
  bool healed_ = false;
  journal::Digest digest_;
  std::vector<journal::Step> recent_;
  Outcome outcome_;
};

}  // namespace tidegate::swarm
