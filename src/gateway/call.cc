#include "gateway/call.h"

#include <algorithm>
#include <utility>

#include "gateway/clock.h"
#include "openai/sse.h"

namespace tidegate::gateway {
namespace {

std::int64_t milliseconds_of(units::Nanos span) {
  return span.value() / 1'000'000;
}

}  // namespace

domain::End gateway_full() {
  domain::End end;
  end.outcome = domain::Outcome::kRejectedCapacity;
  end.reason = domain::Reason::kQueueFull;
  end.full = domain::Resource::kQueue;
  end.retry_after = units::seconds(1);
  return end;
}

Call::Call(CallSetup setup) : setup_(std::move(setup)), lanes_(setup_.lanes) {
  told_ = setup_.received;
}

void Call::held(std::size_t lane, std::int64_t ahead, units::Instant eta) {
  const std::lock_guard lock(mutex_);
  if (over_ || lanes_[lane].ended) return;
  held_ = true;
  // A call starts with the first of its lanes, so its place is that of the best one.
  ahead_ = lane == 0 ? ahead : std::min(ahead_, ahead);
  eta_ = lane == 0 ? eta : std::min(eta_, eta);
}

bool Call::tell(units::Instant now) {
  const std::lock_guard lock(mutex_);
  const auto opened = [](const LaneText& lane) { return lane.opened; };
  if (over_ || !setup_.stream || std::any_of(lanes_.begin(), lanes_.end(), opened)) return false;
  const bool news = held_ && waiting_ && !streaming_;
  if (!news && now - told_ < kWordEvery) return true;
  if (!streaming_ && !open_stream()) return false;
  told_ = now;
  send(waiting_ ? openai::sse_queued(ahead_, eta_ - now) : openai::sse_keep_alive());
  return !over_;
}

void Call::placed(const std::string& engine, units::Nanos queued) {
  const std::lock_guard lock(mutex_);
  if (!waiting_) return;
  waiting_ = false;
  setup_.summary.engine = engine;
  setup_.summary.queued = queued;
}

void Call::downgraded() {
  const std::lock_guard lock(mutex_);
  downgraded_ = true;
}

void Call::rates(const RateView& view) {
  const std::lock_guard lock(mutex_);
  rates_ = view;
}

void Call::ended(std::size_t lane, const domain::End& end, const domain::Usage& usage) {
  const std::lock_guard lock(mutex_);
  LaneText& text = lanes_[lane];
  if (text.ended) return;
  text.ended = true;
  text.usage = usage;
  ++ended_;
  if (!over_ && end.outcome != domain::Outcome::kCompleted) refuse(end);
  if (ended_ < lanes_.size()) return;
  if (!over_) {
    setup_.stream ? finish_stream() : answer_whole();
  } else {
    conclude(domain::Outcome::kCancelled, domain::Reason::kCallerLeft, 499);
  }
}

void Call::turned_away() {
  const std::lock_guard lock(mutex_);
  ended_ = lanes_.size();
  refuse(gateway_full());
}

void Call::closed(net::CloseReason reason) {
  const std::lock_guard lock(mutex_);
  if (reason == net::CloseReason::kDone || over_) return;
  give_up();
}

void Call::give_up() {
  over_ = true;
  if (abandoned_ || ended_ == lanes_.size()) return;
  abandoned_ = true;
  setup_.abandon();
}

domain::Usage Call::usage() const {
  domain::Usage sum;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    sum.output += lanes_[i].usage.output;
    if (i % setup_.choices_per_prompt != 0) continue;
    sum.prompt += lanes_[i].usage.prompt;
    sum.cached_prompt += lanes_[i].usage.cached_prompt;
  }
  return sum;
}

void Call::conclude(domain::Outcome outcome, domain::Reason reason, int status) {
  if (concluded_) return;
  concluded_ = true;
  CallSummary& summary = setup_.summary;
  summary.usage = usage();
  summary.outcome = outcome;
  summary.reason = domain::name(reason);
  summary.status = status;
  summary.total = now() - setup_.received;
  setup_.done(summary);
}

std::string Call::decision_header() const {
  const CallSummary& summary = setup_.summary;
  const std::string name = "; class=" + summary.service_class + (downgraded_ ? "; downgraded" : "");
  if (waiting_) {
    return "queued; position=" + std::to_string(ahead_) +
           "; queued_ms=" + std::to_string(milliseconds_of(now() - setup_.received)) + name;
  }
  return "admitted; queued_ms=" + std::to_string(milliseconds_of(summary.queued)) +
         "; engine=" + summary.engine + name;
}

net::Headers Call::head() const {
  net::Headers headers;
  headers.emplace_back("x-request-id", setup_.summary.request_id);
  headers.emplace_back("x-tidegate-decision", decision_header());
  if (rates_) append_rate_headers(*rates_, headers);
  return headers;
}

void Call::refuse(const domain::End& end) {
  const auto phase = streaming_ ? openai::Phase::kStreaming : openai::Phase::kBeforeFirstByte;
  const openai::HttpAnswer answer = openai::http_status(end.outcome, end.reason, phase);
  const openai::Refusal refusal = openai::refusal(end);
  const std::string body = openai::error_body(refusal, setup_.summary.request_id);
  if (answer.form == openai::Form::kErrorEvent) {
    setup_.exchange->write(openai::sse_error(body));
    setup_.exchange->cut();
  } else if (answer.form == openai::Form::kErrorBody) {
    net::Headers headers = openai::refusal_headers(refusal);
    headers.emplace_back("x-request-id", setup_.summary.request_id);
    headers.emplace_back("x-tidegate-decision",
                         "refused; reason=" + std::string(domain::name(end.reason)) +
                             "; class=" + setup_.summary.service_class);
    if (rates_) append_rate_headers(*rates_, headers);
    if (end.outcome == domain::Outcome::kShutdown) headers.emplace_back("connection", "close");
    setup_.exchange->respond(answer.status, std::move(headers), body);
  }
  conclude(end.outcome, end.reason, answer.status);
  give_up();
}

}  // namespace tidegate::gateway
