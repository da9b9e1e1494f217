#include "pool/placement/choose.h"

#include <algorithm>

#include "cost/kv_law.h"
#include "units/integer.h"

namespace tidegate::pool {

bool could_use(const domain::Request& request, const EngineView& engine) {
  return engine.ready() && cost::can_ever_fit(engine.spec(), request.footprint);
}

namespace {

units::Int128 cost_of(const Verdict& verdict) {
  const auto factor = [](units::Nanos t) { return std::max<std::int64_t>(1, t.value()); };
  return units::Int128{factor(verdict.added_prefill)} * factor(verdict.step_after);
}

bool avoided(const Ask& ask, const Candidates& candidates, EngineIndex index) {
  if (candidates.avoid != index) return false;
  return std::any_of(candidates.indexes.begin(), candidates.indexes.end(), [&](EngineIndex other) {
    return other != index && could_use(*ask.request, candidates.engines[other]);
  });
}

}  // namespace

Choice choose(const Ask& ask, const Candidates& candidates, const Basis& basis, units::Prng& prng) {
  Choice choice;
  units::Int128 least = 0;
  std::uint64_t equals = 0;
  for (const EngineIndex index : candidates.indexes) {
    const EngineView& engine = candidates.engines[index];
    if (!engine.ready() || avoided(ask, candidates, index)) continue;
    const Verdict verdict = feasible(ask, engine, basis.policy, basis.now);
    const bool first = !choice.any_ready;
    choice.any_ready = true;
    if (!verdict.ok) {
      const bool sooner = first || verdict.drains_in < choice.verdict.drains_in;
      if (!choice.engine && sooner) choice.verdict = verdict;
      continue;
    }
    const units::Int128 cost = cost_of(verdict);
    equals = choice.engine && cost == least ? equals + 1 : 1;
    const bool better = !choice.engine || cost < least;
    if (!better && (cost > least || prng.below(equals) != 0)) continue;
    choice.engine = index;
    choice.verdict = verdict;
    least = cost;
  }
  return choice;
}

}  // namespace tidegate::pool
