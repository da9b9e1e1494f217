// Callers who are refused and ask again: a new request with a new id, the same work, and a promise
// that begins anew.
#include "domain/decision.h"
#include "sim/simulator.h"

namespace tidegate::sim {

using units::Instant;
using units::Nanos;

namespace {

// Ids of repeated requests, out of the way of those of the arrivals.
constexpr std::uint64_t kFirstRepeated = std::uint64_t{1} << 48;

Instant moved(Instant due, Nanos by) {
  return due == Instant::never() ? due : due + by;
}

domain::Promise moved(domain::Promise promise, Nanos by) {
  promise.first_token_due = moved(promise.first_token_due, by);
  promise.total_due = moved(promise.total_due, by);
  return promise;
}

}  // namespace

void Simulator::remember(const WorldRequest& arrival) {
  if (arrival.request.caller_retries >= arrival.retries.most) return;
  callers_.emplace(arrival.request.id, arrival);
}

void Simulator::refused(const domain::End& end) {
  const auto found = callers_.find(end.request);
  if (found == callers_.end()) return;
  WorldRequest caller = std::move(found->second);
  callers_.erase(found);
  const bool for_want_of_room = end.outcome == domain::Outcome::kRejectedCapacity ||
                                end.outcome == domain::Outcome::kRejectedQuota;
  if (!for_want_of_room) return;
  const Nanos wait = caller.retries.wait.value_or(end.retry_after);
  if (wait == Nanos(0) || caller.leaves <= now_ + wait) return;
  domain::Request& request = caller.request;
  request.id = units::RequestId(kFirstRepeated + returned_++);
  request.promise = moved(request.promise, now_ + wait - request.arrival);
  request.arrival = now_ + wait;
  request.caller_retries += 1;
  agenda_.put(request.arrival, Happening::kReturn, request.id.value());
  returning_.emplace(request.id, std::move(caller));
}

void Simulator::come_back(std::uint64_t id) {
  const auto found = returning_.find(units::RequestId(id));
  WorldRequest caller = std::move(found->second);
  returning_.erase(found);
  arrive(std::move(caller));
}

}  // namespace tidegate::sim
