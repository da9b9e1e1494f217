// Turns the rows of one source of requests into requests of a scenario: names become ids, a class
// becomes a promise, hashed prompt content becomes a prefix chain. A value after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/scenario_config.h"
#include "sim/world.h"
#include "units/result.h"
#include "workload/trace.h"

namespace tidegate::scenario {

class RowBinding {
 public:
  // `names` are those that the rows' numbers stand for. `config` and `item` must outlive the
  // binding.
  RowBinding(const config::ScenarioConfig& config, const config::WorkloadItem& item,
             const std::vector<std::string>& names);

  // Nothing when every row gets a tenant and a model; else the workload entry's place in the
  // scenario file: a name is unknown there, or the rows leave a choice that the entry does not
  // make.
  units::Result<void> check(const workload::Trace& trace) const;

  // The request of a row that arrives at `arrival`, without its id. `hash_ids` are those of the
  // row, `hash_block` the prompt tokens of each. Prompts are at least one token; a caller asks for
  // no more output than the model's context leaves room for, and gets what the row says of it.
  sim::WorldRequest bind(const workload::TraceRow& row, std::span<const std::uint64_t> hash_ids,
                         units::Tokens hash_block, units::Instant arrival) const;

 private:
  units::TenantId tenant_of(const workload::TraceRow& row) const;
  units::ModelId model_of(const workload::TraceRow& row) const;
  units::ClassId class_of(const workload::TraceRow& row, units::TenantId tenant) const;
  const config::ScenarioConfig* config_;
  const config::WorkloadItem* item_;
  // By the number of a name in the source.
  std::vector<std::optional<units::TenantId>> tenants_;
  std::vector<std::optional<units::ModelId>> models_;
  std::vector<std::optional<units::ClassId>> classes_;
  std::vector<units::Tokens> contexts_;  // by model
};

// What the class promises to a request that arrives then.
domain::Promise promise_of(const domain::ServiceClass& service_class, units::Instant arrival);

}  // namespace tidegate::scenario
