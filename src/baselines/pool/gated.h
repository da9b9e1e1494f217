// Placements with a gate that knows the pool in one number: they show what such a number misses.
//
// Slots counts requests, as concurrency limits by class do (Kubernetes' API priority and fairness,
// Triton's and Ray Serve's max_ongoing_requests): half of the sequences that an engine runs at once
// is reserved in equal parts for the classes, the other half is for whoever comes first. A request
// waits, in the order of its class, until an engine has a slot for it, and goes to the one with the
// fewest requests.
//
// PoolTokens counts tokens, one sum for each model: a request goes in, to the engine with the
// fewest requests, while the prompts and expected outputs in flight fit the KV memory of all its
// engines together; otherwise it waits in order of arrival. That no single engine may have room is
// what the sum cannot see.
//
// Pure; one owner.
#pragma once

#include <map>
#include <utility>

#include "baselines/pool/spread.h"

namespace tidegate::baselines {

class Slots final : public Router {
 public:
  // REQUIRES: classes >= 1.
  explicit Slots(std::size_t classes) : classes_(static_cast<std::int64_t>(classes)) {}

  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;
  std::uint64_t lane(const domain::Request& request) const override {
    return request.service_class.value();
  }
  void sent(const domain::Request& request, EngineIndex engine) override;
  void reconfigured(const pool::PoolConfig& config) override;
  void ended(const domain::Request& request, EngineIndex engine) override;

 private:
  bool has_slot(const domain::Request& request, const Target& target) const;

  std::int64_t classes_;
  std::map<EngineIndex, std::map<units::ClassId, std::int64_t>> in_flight_;
  LeastRequests least_;
};

class PoolTokens final : public Router {
 public:
  std::optional<EngineIndex> route(const domain::Request& request,
                                   std::span<const Target> targets) override;

 private:
  LeastRequests least_;
};

}  // namespace tidegate::baselines
