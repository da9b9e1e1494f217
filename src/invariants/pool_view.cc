#include "invariants/pool_view.h"

namespace tidegate::invariants {
namespace {

BookedEngine booked(const pool::EngineView& engine) {
  BookedEngine view{engine.spec().id, engine.spec().epoch, engine.ready(), {}};
  for (const pool::Pledge& pledge : engine.ledger()) {
    if (!pledge.used) continue;
    view.tries.push_back({pledge.ref, pledge.produced, pledge.ghost()});
  }
  return view;
}

}  // namespace

PoolView view_of(const pool::PoolScheduler& scheduler) {
  PoolView view;
  const pool::RequestTable& table = scheduler.requests();
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    const pool::Entry& entry = table[static_cast<pool::SlotIndex>(i)];
    if (entry.phase == pool::Phase::kFree) continue;
    view.requests.push_back({entry.request.id, entry.phase == pool::Phase::kOnEngine, entry.ref});
  }
  for (const pool::EngineView& engine : scheduler.engines()) view.engines.push_back(booked(engine));
  for (const domain::Tenant& tenant : scheduler.config().tenants) {
    const auto holds = scheduler.holds(tenant.id);
    if (!holds) continue;
    view.tenants.push_back({tenant.id, holds->alive, holds->on_engines, holds->reserved_tokens});
  }
  return view;
}

}  // namespace tidegate::invariants
