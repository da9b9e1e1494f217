// Where a request goes, by the rule of one project: the part of a routing pool that differs. It
// sees what such a router sees: its own requests in flight and what engines last reported. Pure;
// one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "domain/request.h"
#include "domain/seam.h"
#include "pool/placement/engine_view.h"

namespace tidegate::baselines {

using EngineIndex = std::size_t;

// One engine as a router knows it.
struct Target {
  EngineIndex index = 0;
  const domain::EngineSpec* spec = nullptr;
  domain::StateReport report{};  // the last one; zeros before the first
  std::int64_t in_flight = 0;    // requests sent here and not ended
  units::Tokens tokens{0};       // prompt + output so far of those
  units::Tokens promised{0};     // prompt + expected output of those
};

class Router {
 public:
  virtual ~Router() = default;

  // The engine that takes the request, out of `targets` (ready ones that could hold it, not empty,
  // ascending); nothing: it waits in the router until something ends or an engine reports.
  virtual std::optional<EngineIndex> route(const domain::Request& request,
                                           std::span<const Target> targets) = 0;
  // Requests of one lane wait in order of arrival; those of different lanes pass each other.
  virtual std::uint64_t lane(const domain::Request& /*request*/) const { return 0; }
  // What route() decided was done, and the request is on no engine any more.
  virtual void sent(const domain::Request& /*request*/, EngineIndex /*engine*/) {}
  virtual void ended(const domain::Request& /*request*/, EngineIndex /*engine*/) {}
  // There are other classes and tenants from now on.
  virtual void reconfigured(const pool::PoolConfig& /*config*/) {}
  // The engine lost what it held in memory.
  virtual void lost(EngineIndex /*engine*/) {}
};

using RouterFactory = std::function<std::unique_ptr<Router>(const pool::PoolConfig& config)>;

}  // namespace tidegate::baselines
