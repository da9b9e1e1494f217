// The Virtual Token Counter (Sheng et al., Fairness in Serving Large Language Models, OSDI 2024;
// algorithm 2) over the steps of vLLM's engine: each tenant has a counter of the service it got, 1
// for a prompt token, charged when the prompt starts, and 2 for an output token, charged as it is
// produced. The next one to start is the first of the tenant with the smallest counter; when it
// does not fit, nobody starts. A tenant that had nothing waiting is lifted to the smallest counter
// of those who have, or to that of the last who had, so that nobody saves up.
//
// A preempted try waits in front of its tenant's others, and its prompt is not charged again.
// Tenants count alike: engines are not told weights.
#pragma once

#include <map>
#include <optional>

#include "baselines/engine/vllm_v1.h"

namespace tidegate::baselines {

class Vtc final : public VllmV1 {
 public:
  static constexpr std::int64_t kPromptWeight = 1;
  static constexpr std::int64_t kOutputWeight = 2;

  explicit Vtc(batch::Core& core) : VllmV1(core) {}

  batch::StartKey start_key(const domain::Assign& assign) override;
  void compose(units::Instant now) override;

 protected:
  void plan_waiting() override;

 private:
  // The first waiting one of the tenant.
  std::optional<Index> first_of(units::TenantId tenant) const;
  std::optional<Index> first_of(units::TenantId tenant, batch::StartRank rank) const;
  // Of the tenants that wait, the one with the smallest counter.
  std::optional<units::TenantId> next_tenant() const;

  std::map<units::TenantId, std::int64_t> counters_;
  units::TenantId last_started_;
};

}  // namespace tidegate::baselines
