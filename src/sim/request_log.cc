#include "sim/request_log.h"

#include <algorithm>
#include <utility>

namespace tidegate::sim {
namespace {

using report::RequestRecord;

// Position of `name` in `groups`, added when new.
std::size_t group_index(std::vector<report::Group>& groups, const std::string& name) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].first == name) return i;
  }
  groups.emplace_back(name, report::Totals{});
  return groups.size() - 1;
}

void note_token(RequestRecord& record, units::Instant now) {
  const std::int64_t index = record.output.value();
  if (index == 0) {
    record.first_token = now;
  } else {
    record.largest_gap = std::max(record.largest_gap, now - record.last_token);
  }
  record.last_token = now;
  record.late_tokens += now > record.promise.token_due(index) ? 1 : 0;
  record.output += units::Tokens(1);
}

}  // namespace

RequestLog::RequestLog(const World& world, std::vector<std::string> model_names)
    : warm_(units::Instant(0) + world.warmup) {
  for (const auto& service_class : world.pool.classes)
    classes_.emplace_back(service_class.name, report::Totals{});
  for (const auto& tenant : world.pool.tenants)
    tenants_.emplace_back(tenant.name, report::Totals{});
  for (auto& name : model_names) models_.emplace_back(std::move(name), report::Totals{});
  for (const auto& engine : world.engines) gpu_of_engine_.push_back(group_index(gpus_, engine.gpu));
}

void RequestLog::arrived(const WorldRequest& arrival) {
  const domain::Request& request = arrival.request;
  Entry entry;
  entry.true_output = arrival.output;
  entry.max_output = request.footprint.max_output;
  entry.record.arrival = request.arrival;
  entry.record.promise = request.promise;
  entry.record.input = request.footprint.prompt;
  entry.service_class = static_cast<std::size_t>(request.service_class.value());
  entry.tenant = static_cast<std::size_t>(request.tenant.value());
  entry.model = static_cast<std::size_t>(request.model.value());
  entry.gpu = gpus_.size();
  entry.counted = request.arrival >= warm_;
  alive_.insert_or_assign(request.id, entry);
}

void RequestLog::admitted(units::RequestId id) {
  alive_.at(id).record.admitted = true;
}

void RequestLog::downgraded(units::RequestId id) {
  alive_.at(id).record.downgraded = true;
}

void RequestLog::assigned(units::RequestId id, std::size_t engine, units::Instant now) {
  Entry& entry = alive_.at(id);
  entry.gpu = gpu_of_engine_[engine];
  entry.record.started = now;
}

void RequestLog::tokens(units::RequestId id, units::Tokens count, units::Instant now) {
  const auto found = alive_.find(id);
  if (found == alive_.end()) return;  // it ended; the engine had not heard yet
  for (std::int64_t i = 0; i < count.value(); ++i) note_token(found->second.record, now);
}

void RequestLog::ended(const domain::End& end, units::Instant now) {
  const auto found = alive_.find(end.request);
  if (found == alive_.end()) return;
  found->second.record.outcome = end.outcome;
  found->second.record.reason = end.reason;
  found->second.record.ended = now;
  add(end.request, found->second);
  alive_.erase(found);
}

void RequestLog::close() {
  for (auto& [id, entry] : alive_) {
    entry.record.residue = true;
    add(id, entry);
  }
  alive_.clear();
}

void RequestLog::add(units::RequestId id, const Entry& entry) {
  if (!entry.counted) return;
  if (recorder_) recorder_({id, entry.service_class, entry.tenant, entry.record});
  totals_.add(entry.record);
  classes_[entry.service_class].second.add(entry.record);
  tenants_[entry.tenant].second.add(entry.record);
  models_[entry.model].second.add(entry.record);
  if (entry.gpu < gpus_.size()) gpus_[entry.gpu].second.add(entry.record);
}

void RequestLog::fill(report::Run& run) const {
  run.totals = totals_;
  run.by_class = classes_;
  run.by_tenant = tenants_;
  run.by_model = models_;
  run.by_gpu = gpus_;
}

}  // namespace tidegate::sim
