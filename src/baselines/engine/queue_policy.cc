#include "baselines/engine/queue_policy.h"

namespace tidegate::baselines {

batch::StartKey QueuePolicy::start_key(const domain::Assign& assign) {
  return keyed(assign, units::Instant(0));
}

// `minus_own_work` is the second field of the key that compares; here it carries the order.
batch::StartKey QueuePolicy::keyed(const domain::Assign& assign, units::Instant due) {
  return {.tier = domain::Tier::kGuaranteed,
          .rank = batch::StartRank::kPromised,
          .due = due,
          .minus_own_work = units::Nanos(submitted_++),
          .request = assign.ref.request,
          .attempt = assign.ref.attempt};
}

void QueuePolicy::plan_decodes() {
  const auto& running = core_.sequences.running();
  for (std::size_t i = 0; i < running.size() && draft_.tokens_left() > units::Tokens(0); ++i) {
    const Index index = running[i];
    if (!core_.sequences[index].decoding()) continue;
    while (!draft_.add_decode(index)) {
      const Index last = running.back();
      draft_.preempt(last);
      if (last == index) return;
    }
  }
}

bool QueuePolicy::shed_one(units::Instant /*now*/) {
  const auto& running = core_.sequences.running();
  if (running.size() < 2) return false;
  core_.preempt(running.back());
  return true;
}

}  // namespace tidegate::baselines
