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

PoolView view_of(const pool::Scheduler& scheduler) {
  PoolView view;
  view.requests = scheduler.live_requests();
  for (const pool::EngineView& engine : scheduler.engines()) view.engines.push_back(booked(engine));
  for (const domain::Tenant& tenant : scheduler.config().tenants) {
    const auto holds = scheduler.holds(tenant.id);
    if (!holds) continue;
    view.tenants.push_back({tenant.id, holds->alive, holds->on_engines, holds->reserved_tokens});
  }
  return view;
}

}  // namespace tidegate::invariants
