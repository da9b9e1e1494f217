// The half of the decision loop that performs what was decided.
#include <algorithm>
#include <utility>

#include "gateway/clock.h"
#include "gateway/decision_loop.h"
#include "gateway/pool_setup.h"

namespace tidegate::gateway {

void DecisionLoop::perform(const domain::Decision& decision) {
  std::visit([this](const auto& each) { perform(each); }, decision);
}

void DecisionLoop::perform(const domain::Admit& admit) {
  LiveRequest* live = find(admit.request);
  if (live != nullptr) live->call->rates(rate_view(*scheduler_, tenant(live->tenant)));
}

void DecisionLoop::perform(const domain::Hold& hold) {
  LiveRequest* live = find(hold.request);
  if (live == nullptr) return;
  live->ref.reset();  // its first try failed, if it had one
  waiting_.insert(hold.request);
  live->call->held(live->lane, hold.position, hold.eta);
}

void DecisionLoop::perform(const domain::Downgrade& downgrade) {
  LiveRequest* live = find(downgrade.request);
  if (live == nullptr) return;
  live->promise = downgrade.promise;
  live->call->downgraded();
}

void DecisionLoop::perform(const domain::Assign& assign) {
  LiveRequest* live = find(assign.ref.request);
  if (live == nullptr) return;
  live->ref = assign.ref;
  waiting_.erase(assign.ref.request);
  parts_.metrics.queued(now_ - live->arrival);
  live->call->placed(parts_.engines.name(assign.ref.engine), now_ - live->arrival);
  parts_.routes.enter(assign.ref, live->call, live->lane);
  parts_.engines.engine(assign.ref.engine).submit(assign, live->generation);
}

void DecisionLoop::perform(const domain::Abort& abort) {
  parts_.engines.engine(abort.ref.engine).abort(abort);
}

void DecisionLoop::perform(const domain::WakeAt& wake) {
  wake_ = wake.at;
}

void DecisionLoop::perform(const domain::End& end) {
  const auto found = live_.find(end.request);
  if (found == live_.end()) return;
  // Out of the tables first: whatever the call does next finds a request that has ended.
  const LiveRequest live = std::move(found->second);
  live_.erase(found);
  waiting_.erase(end.request);
  silent_.erase(end.request);
  parts_.routes.leave(end.request);
  account(live, end);
  live.call->rates(rate_view(*scheduler_, tenant(live.tenant)));
  live.call->ended(live.lane, end, live.usage);
}

void DecisionLoop::account(const LiveRequest& request, const domain::End& end) {
  parts_.metrics.tokens(request.usage);
  if (end.outcome != domain::Outcome::kCompleted) return;
  lengths_.observe(request.service_class, request.model, request.usage.output, request.max_output);
  if (request.promise.best_effort()) return;
  const auto count = attainment_.judge(request.service_class, request.tenant, request.in_time);
  parts_.metrics.attainment(config().classes[request.service_class.value()].name,
                            tenant(request.tenant).name, count.kept, count.judged);
}

}  // namespace tidegate::gateway
