#include "baselines/engine/vtc.h"

#include <algorithm>
#include <utility>

namespace tidegate::baselines {

using units::Instant;
using units::TenantId;
using units::Tokens;

namespace {

// In place of a due time: the queue is ordered by tenant, then by arrival.
Instant place_of(TenantId tenant) {
  return Instant(static_cast<std::int64_t>(tenant.value()));
}

}  // namespace

batch::StartKey Vtc::start_key(const domain::Assign& assign) {
  const TenantId tenant = assign.request.tenant;
  if (!first_of(tenant)) {
    const auto least = next_tenant();
    const std::int64_t floor = counters_[least ? *least : last_started_];
    counters_[tenant] = std::max(counters_[tenant], floor);
  }
  return keyed(assign, place_of(tenant));
}

void Vtc::compose(Instant now) {
  VllmV1::compose(now);
  for (std::size_t i = 0; i < core_.plan.rows.size(); ++i) {
    if (!core_.plan.rows[i].samples) continue;
    const batch::Sequence& sequence = core_.sequences[core_.row_sequences[i]];
    counters_[sequence.assign.request.tenant] += kOutputWeight;
  }
}

// A preempted try waits in another rank of the queue, in front of all that never started.
std::optional<Index> Vtc::first_of(TenantId tenant) const {
  const auto returning = first_of(tenant, batch::StartRank::kReturning);
  return returning ? returning : first_of(tenant, batch::StartRank::kPromised);
}

std::optional<Index> Vtc::first_of(TenantId tenant, batch::StartRank rank) const {
  const auto& waiting = core_.sequences.waiting();
  const auto wanted = std::pair(rank, place_of(tenant));
  const auto place = [&](Index index) {
    const batch::StartKey& key = core_.sequences[index].key;
    return std::pair(key.rank, key.due);
  };
  const auto found =
      std::lower_bound(waiting.begin(), waiting.end(), wanted,
                       [&](Index index, const auto& sought) { return place(index) < sought; });
  if (found == waiting.end() || place(*found) != wanted) return std::nullopt;
  return *found;
}

std::optional<TenantId> Vtc::next_tenant() const {
  const auto* least = static_cast<const std::pair<const TenantId, std::int64_t>*>(nullptr);
  for (const auto& entry : counters_) {
    const bool smaller = least == nullptr || entry.second < least->second;
    if (smaller && first_of(entry.first)) least = &entry;
  }
  if (least == nullptr) return std::nullopt;
  return least->first;
}

void Vtc::plan_waiting() {
  while (draft_.tokens_left() > Tokens(0)) {
    const auto tenant = next_tenant();
    if (!tenant) return;
    const Index index = *first_of(*tenant);
    const batch::Sequence& sequence = core_.sequences[index];
    const bool again = sequence.preemptions > 0;
    if (draft_.start(index, start_rule()) != StepDraft::Start::kStarted) return;
    if (!again)
      counters_[*tenant] += kPromptWeight * sequence.assign.request.footprint.prompt.value();
    last_started_ = *tenant;
  }
}

}  // namespace tidegate::baselines
