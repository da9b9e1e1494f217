#include "scenario/row_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "scenario/engine_model.h"
#include "workload/conversation.h"

namespace tidegate::scenario {
namespace {

using units::Tokens;

template <class Entries, class Name>
std::optional<std::size_t> position(const Entries& entries, const std::string& name, Name name_of) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& each) { return name_of(each) == name; });
  if (found == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(found - entries.begin());
}

// Which columns of the rows are filled at all.
struct Filled {
  bool tenant = false, model = false, unnamed_tenant = false, unnamed_model = false;
};

Filled filled(const workload::Trace& trace) {
  Filled all;
  for (const workload::TraceRow& row : trace.rows) {
    (row.tenant == 0 ? all.unnamed_tenant : all.tenant) = true;
    (row.model == 0 ? all.unnamed_model : all.model) = true;
  }
  return all;
}

// One hash for each full KV block of the prompt: the source's content id, the block's place within
// it, and the tenant, so that tenants share nothing (invariant S18).
domain::PrefixChain chain(const domain::Request& request, std::span<const std::uint64_t> ids,
                          Tokens id_tokens) {
  const std::int64_t blocks = request.footprint.prompt / kBlockTokens;
  const std::int64_t per_id = std::max<std::int64_t>(1, id_tokens / kBlockTokens);
  const std::int64_t known = std::min(blocks, static_cast<std::int64_t>(ids.size()) * per_id);
  if (known <= 0) return nullptr;
  auto hashes = std::make_shared<std::vector<std::uint64_t>>();
  hashes->reserve(static_cast<std::size_t>(known));
  const std::uint64_t salt = workload::mix(request.tenant.value(), 0);
  for (std::int64_t block = 0; block < known; ++block) {
    const std::uint64_t id = ids[static_cast<std::size_t>(block / per_id)];
    hashes->push_back(workload::mix(workload::mix(id, salt), static_cast<std::uint64_t>(block)));
  }
  return hashes;
}

}  // namespace

domain::Promise promise_of(const domain::ServiceClass& service_class, units::Instant arrival) {
  domain::Promise promise;
  if (service_class.ttft) promise.first_token_due = arrival + *service_class.ttft;
  if (service_class.ttft && service_class.tpot) promise.token_pace = *service_class.tpot;
  if (service_class.deadline) promise.total_due = arrival + *service_class.deadline;
  return promise;
}

RowBinding::RowBinding(const config::ScenarioConfig& config, const config::WorkloadItem& item,
                       const std::vector<std::string>& names)
    : config_(&config), item_(&item) {
  const std::size_t count = names.size();
  tenants_.resize(count);
  models_.resize(count);
  classes_.resize(count);
  const auto by_name = [](const auto& each) { return each.name; };
  for (std::size_t i = 1; i < count; ++i) {
    const std::string& name = names[i];
    const auto tenant =
        position(config_->tenants, name, [](const auto& each) { return each.values.name; });
    if (tenant) tenants_[i] = units::TenantId(*tenant);
    if (const auto model = position(config_->models, name, by_name)) {
      models_[i] = units::ModelId(*model);
    }
    if (const auto each = position(config_->classes, name, by_name)) {
      classes_[i] = units::ClassId(*each);
    }
  }
  for (std::size_t i = 0; i < config.models.size(); ++i) {
    contexts_.push_back(longest_context(config, i));
  }
}

units::Result<void> RowBinding::check(const workload::Trace& trace) const {
  const auto fail = [this](std::string message) {
    return units::error(item_->where, std::move(message));
  };
  for (const workload::TraceRow& row : trace.rows) {
    if (item_->tenants.empty() && row.tenant != 0 && !tenants_[row.tenant]) {
      return fail(
          fmt::format("the trace names the tenant '{}', which the scenario does not have; "
                      "add tenant: NAME to this entry or the name to 'tenants'",
                      trace.names[row.tenant]));
    }
    if (!item_->model && row.model != 0 && !models_[row.model]) {
      return fail(
          fmt::format("the trace names the model '{}', which the scenario does not have; "
                      "add model: NAME to this entry or the name to 'models'",
                      trace.names[row.model]));
    }
    if (!item_->service_class && row.service_class != 0 && !classes_[row.service_class]) {
      return fail(
          fmt::format("the trace names the class '{}', which the scenario does not have; "
                      "add class: NAME to this entry or the name to 'classes'",
                      trace.names[row.service_class]));
    }
  }
  const Filled columns = filled(trace);
  if (columns.unnamed_tenant && item_->tenants.empty() && config_->tenants.size() > 1) {
    return fail("the trace does not say whose its requests are; add tenant: NAME to this entry");
  }
  if (columns.unnamed_model && !item_->model && config_->models.size() > 1) {
    return fail("the trace does not say which model it asks for; add model: NAME to this entry");
  }
  return {};
}

units::TenantId RowBinding::tenant_of(const workload::TraceRow& row) const {
  if (tenants_[row.tenant]) return *tenants_[row.tenant];
  // Whoever the source tells apart stays with one tenant.
  const std::uint64_t key = row.tenant != 0 ? row.tenant : row.session;
  if (item_->tenants.empty()) return units::TenantId(key % config_->tenants.size());
  return item_->tenants[key % item_->tenants.size()];
}

units::ModelId RowBinding::model_of(const workload::TraceRow& row) const {
  if (item_->model) return *item_->model;
  return models_[row.model].value_or(units::ModelId(0));
}

units::ClassId RowBinding::class_of(const workload::TraceRow& row, units::TenantId tenant) const {
  if (item_->service_class) return *item_->service_class;
  const config::TenantConfig& owner = config_->tenants[tenant.value()];
  const auto named = classes_[row.service_class];
  const auto& allowed = owner.classes;
  const bool may = named && std::find(allowed.begin(), allowed.end(), *named) != allowed.end();
  return may ? *named : owner.values.default_class;
}

sim::WorldRequest RowBinding::bind(const workload::TraceRow& row,
                                   std::span<const std::uint64_t> hash_ids,
                                   units::Tokens hash_block, units::Instant arrival) const {
  sim::WorldRequest bound;
  domain::Request& request = bound.request;
  request.tenant = tenant_of(row);
  request.model = model_of(row);
  request.service_class = class_of(row, request.tenant);
  request.arrival = arrival;
  request.promise = promise_of(config_->classes[request.service_class.value()], arrival);
  request.footprint.prompt = std::max(row.input, Tokens(1));
  const Tokens room = contexts_[request.model.value()] - request.footprint.prompt;
  request.footprint.max_output =
      room < Tokens(1) ? item_->max_output : std::min(item_->max_output, room);
  request.prefix = chain(request, hash_ids, hash_block);
  bound.output = std::clamp(row.output, Tokens(1), request.footprint.max_output);
  bound.retries = {item_->retries, item_->retry_wait};
  return bound;
}

}  // namespace tidegate::scenario
