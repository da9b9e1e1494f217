// Worlds in which a request is one service, so that queueing theory speaks about them: engines take
// one sequence at a time, a request is one step with one output token, and a step takes as many
// ticks as its prompt has tokens and nothing else. Waits come out to the nanosecond.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/simulator.h"
#include "units/prng.h"

namespace tidegate::sim {

// What a prompt token takes: service times are whole ticks.
inline constexpr units::Nanos kTick = units::microseconds(10);
inline constexpr units::Nanos kYear = units::seconds(31'536'000);

// So many servers and one class of best effort.
inline World servers(std::int64_t count) {
  World world;
  domain::ServiceClass any;
  any.name = "any";
  any.best_effort = true;
  world.pool.classes = {any};
  domain::Tenant tenant;
  tenant.name = "all";
  world.pool.tenants = {tenant};
  world.pool.models = {units::ModelId(0)};
  world.physics.telemetry_period = units::seconds(1);
  EngineModel engine;
  engine.gpu = "server";
  const std::int64_t tick_fs = kTick.value() * 1'000'000;
  engine.true_law.per_token_fs = {tick_fs, tick_fs, tick_fs};
  engine.batch.retained_slots = 0;
  engine.batch.default_step_budget = units::seconds(1'000);
  auto& spec = engine.batch.spec;
  spec.law = engine.true_law;
  spec.calibrated = true;
  spec.kv.block_tokens = units::Tokens(1'000'000);
  const units::Tokens longest(1'000'000);
  spec.limits = {units::Blocks(1'000), 1, longest, longest};
  for (std::int64_t i = 0; i < count; ++i) {
    spec.id = units::EngineId(static_cast<std::uint64_t>(i));
    world.engines.push_back(engine);
  }
  return world;
}

// Uniform in (0, 1).
inline double open_unit(units::Prng& prng) {
  return (static_cast<double>(prng.next() >> 12) + 0.5) / 4503599627370496.0;
}

inline double exponential_variate(units::Prng& prng) {
  return -std::log(open_unit(prng));
}

// One Poisson stream of requests, all of one class.
struct Stream {
  double per_s = 1;
  std::function<double(units::Prng&)> service_s;
  units::ClassId service_class{0};
  bool promised = false;  // a first token within a year, which binds nobody
};

// The streams together, without end: a Poisson process whose points choose their stream at random
// in proportion to its rate, which is the same thing as independent streams.
class Crowd {
 public:
  Crowd(std::vector<Stream> streams, std::uint64_t seed)
      : streams_(std::move(streams)), prng_(seed) {
    for (const Stream& stream : streams_) per_s_ += stream.per_s;
  }

  std::optional<WorldRequest> operator()() {
    at_ = at_ + units::Nanos(std::llround(exponential_variate(prng_) / per_s_ * 1e9));
    double point = open_unit(prng_) * per_s_;
    std::size_t chosen = 0;
    while (chosen + 1 < streams_.size() && point >= streams_[chosen].per_s) {
      point -= streams_[chosen++].per_s;
    }
    const Stream& stream = streams_[chosen];
    WorldRequest next;
    next.request.id = units::RequestId(++id_);
    next.request.arrival = at_;
    next.request.service_class = stream.service_class;
    if (stream.promised) next.request.promise.first_token_due = at_ + kYear;
    const double ticks = stream.service_s(prng_) * 1e9 / static_cast<double>(kTick.value());
    next.request.footprint.prompt = units::Tokens(std::max<std::int64_t>(1, std::llround(ticks)));
    next.request.footprint.max_output = units::Tokens(1);
    next.output = units::Tokens(1);
    return next;
  }

 private:
  std::vector<Stream> streams_;
  units::Prng prng_;
  double per_s_ = 0;
  units::Instant at_;
  std::uint64_t id_ = 0;
};

// What became of a request.
struct Served {
  units::ClassId service_class;
  units::Instant arrival;
  units::Nanos service{0};
  units::Nanos wait{0};  // until its service began; of a served one
  bool served = false;
  bool refused = false;  // neither: it was waiting or in service at the end
};

// Runs the world to its horizon. In order of arrival.
inline std::vector<Served> serve(const World& world, Crowd crowd) {
  std::vector<Served> all;
  Simulator simulator(world, std::move(crowd), {"m"});
  simulator.observe(
      [&](const auto&, const domain::Event& event, const auto& decisions, units::Instant now) {
        if (const auto* arrived = std::get_if<domain::Arrived>(&event)) {
          const domain::Request& request = arrived->request;
          all.push_back(
              {request.service_class, request.arrival, kTick * request.footprint.prompt.value()});
        }
        for (const domain::Decision& decision : decisions) {
          const auto* end = std::get_if<domain::End>(&decision);
          if (end == nullptr) continue;
          Served& one = all[end->request.value() - 1];
          one.served = end->outcome == domain::Outcome::kCompleted;
          one.refused = !one.served;
          one.wait = now - one.arrival - one.service;
        }
      });
  simulator.run();
  return all;
}

}  // namespace tidegate::sim
