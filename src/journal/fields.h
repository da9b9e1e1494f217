// One list of members for every recorded value, walked by the encoder, the decoder, the text
// writer and the tests alike, so that they cannot disagree about what a record holds. An archive is
// anything with operator()(name, member). Order here is order on disk: append only, and raise
// kFormatVersion (frame.h) for anything else.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "batch/step_plan.h"
#include "journal/record.h"

namespace tidegate::journal {

template <class V, class T>
concept Like = std::same_as<std::remove_const_t<V>, T>;

template <class A, Like<domain::AttemptRef> T>
void fields(A& a, T& v) {
  a("request", v.request);
  a("attempt", v.attempt);
  a("engine", v.engine);
  a("epoch", v.epoch);
}

template <class A, Like<domain::Promise> T>
void fields(A& a, T& v) {
  a("first_token_due", v.first_token_due);
  a("token_pace", v.token_pace);
  a("total_due", v.total_due);
}

template <class A, Like<domain::Footprint> T>
void fields(A& a, T& v) {
  a("prompt", v.prompt);
  a("max_output", v.max_output);
  a("forecast", v.output.lengths);
}

template <class A, Like<domain::Request> T>
void fields(A& a, T& v) {
  a("request", v.id);
  a("tenant", v.tenant);
  a("class", v.service_class);
  a("model", v.model);
  a("arrival", v.arrival);
  a("promise", v.promise);
  a("footprint", v.footprint);
  a("prefix", v.prefix);
  a("retries", v.caller_retries);
}

template <class A, Like<domain::StepCoefficients> T>
void fields(A& a, T& v) {
  a("base_fs", v.base_fs);
  a("knees", v.knees);
  a("token_fs", v.per_token_fs);
  a("prefill_fs", v.prefill_fs);
  a("decode_fs", v.per_decode_fs);
  a("kv_fs", v.per_kv_token_fs);
  a("attention_fs", v.per_attention_fs);
  a("row_tile", v.row_tile);
  a("tile_fs", v.tile_fs);
  a("stray_fs", v.stray_fs);
}

template <class A, Like<domain::KvShape> T>
void fields(A& a, T& v) {
  a("block_tokens", v.block_tokens);
  a("per_sequence", v.per_sequence);
}

template <class A, Like<domain::EngineLimits> T>
void fields(A& a, T& v) {
  a("kv_blocks", v.kv_blocks);
  a("max_sequences", v.max_sequences);
  a("max_step_tokens", v.max_step_tokens);
  a("max_context", v.max_context);
}

template <class A, Like<domain::EngineSpec> T>
void fields(A& a, T& v) {
  a("engine", v.id);
  a("epoch", v.epoch);
  a("model", v.model);
  a("limits", v.limits);
  a("kv", v.kv);
  a("law", v.law);
  a("calibrated", v.calibrated);
  a("own_batching", v.own_batching);
}

template <class A, Like<domain::Usage> T>
void fields(A& a, T& v) {
  a("prompt", v.prompt);
  a("cached_prompt", v.cached_prompt);
  a("output", v.output);
}

// Events.
template <class A, Like<domain::Arrived> T>
void fields(A& a, T& v) {
  a("request", v.request);
}

template <class A, Like<domain::CallerLeft> T>
void fields(A& a, T& v) {
  a("request", v.request);
}

template <class A, Like<domain::EngineJoined> T>
void fields(A& a, T& v) {
  a("spec", v.spec);
}

template <class A, Like<domain::EngineDraining> T>
void fields(A& a, T& v) {
  a("engine", v.engine);
  a("epoch", v.epoch);
}

template <class A, Like<domain::EngineLost> T>
void fields(A& a, T& v) {
  a("engine", v.engine);
  a("epoch", v.epoch);
}

template <class A, Like<domain::Accepted> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
}

template <class A, Like<domain::TokensProduced> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
  a("count", v.count);
}

template <class A, Like<domain::Finished> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
  a("outcome", v.outcome);
  a("usage", v.usage);
}

template <class A, Like<domain::Failed> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
  a("reason", v.reason);
}

template <class A, Like<domain::StateReport> T>
void fields(A& a, T& v) {
  a("engine", v.engine);
  a("epoch", v.epoch);
  a("kv_used", v.kv_used);
  a("kv_cached", v.kv_cached);
  a("running", v.running);
  a("waiting", v.waiting);
  a("prefill_backlog", v.prefill_backlog);
  a("step_end", v.step_end);
  a("law_correction", v.law_correction);
  a("preemptions_total", v.preemptions_total);
}

template <class A, Like<domain::Tick> T>
void fields(A& /*a*/, T& /*v*/) {}

template <class A, Like<domain::DrainRequested> T>
void fields(A& a, T& v) {
  a("abandon", v.abandon);
}

// Decisions.
template <class A, Like<domain::Admit> T>
void fields(A& a, T& v) {
  a("request", v.request);
  a("tier", v.tier);
}

template <class A, Like<domain::Hold> T>
void fields(A& a, T& v) {
  a("request", v.request);
  a("reason", v.reason);
  a("position", v.position);
  a("eta", v.eta);
  a("hopeless_after", v.hopeless_after);
}

template <class A, Like<domain::End> T>
void fields(A& a, T& v) {
  a("request", v.request);
  a("outcome", v.outcome);
  a("reason", v.reason);
  a("full", v.full);
  a("retry_after", v.retry_after);
}

template <class A, Like<domain::Downgrade> T>
void fields(A& a, T& v) {
  a("request", v.request);
  a("promise", v.promise);
}

template <class A, Like<domain::Assign> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
  a("request", v.request);
  a("tier", v.tier);
}

template <class A, Like<domain::Abort> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
}

template <class A, Like<domain::WakeAt> T>
void fields(A& a, T& v) {
  a("at", v.at);
}

// Step plans of the engine tier, for digests and text.
template <class A, Like<batch::Trim> T>
void fields(A& a, T& v) {
  a("slot", v.slot);
  a("keep", v.keep);
}

template <class A, Like<batch::Copy> T>
void fields(A& a, T& v) {
  a("from", v.from);
  a("to", v.to);
  a("length", v.length);
}

template <class A, Like<batch::Row> T>
void fields(A& a, T& v) {
  a("ref", v.ref);
  a("slot", v.slot);
  a("from", v.from);
  a("count", v.count);
  a("decode", v.decode);
  a("samples", v.samples);
}

template <class A, Like<cost::StepShape> T>
void fields(A& a, T& v) {
  a("decodes", v.decodes);
  a("kv_tokens", v.kv_tokens);
  a("prefill_tokens", v.prefill_tokens);
  a("attention", v.attention);
}

template <class A, Like<batch::StepPlan> T>
void fields(A& a, T& v) {
  a("number", v.number);
  a("trims", v.trims);
  a("copies", v.copies);
  a("rows", v.rows);
  a("shape", v.shape);
  a("predicted", v.predicted);
}

// Records.
template <class A, Like<Step> T>
void fields(A& a, T& v) {
  a("now", v.now);
  a("event", v.event);
  a("decisions", v.decisions);
}

template <class A, Like<domain::ServiceClass> T>
void fields(A& a, T& v) {
  a("class", v.id);
  a("name", v.name);
  a("ttft", v.ttft);
  a("tpot", v.tpot);
  a("deadline", v.deadline);
  a("percentile", v.percentile);
  a("best_effort", v.best_effort);
}

template <class A, Like<domain::TenantLimits> T>
void fields(A& a, T& v) {
  a("requests_per_min", v.requests_per_min);
  a("tokens_per_min", v.tokens_per_min);
  a("in_flight", v.in_flight);
  a("queued", v.queued);
}

template <class A, Like<domain::Guarantee> T>
void fields(A& a, T& v) {
  a("tokens_per_s", v.tokens_per_s);
  a("burst_tokens", v.burst_tokens);
  a("prompt_tokens", v.prompt_tokens);
  a("output_tokens", v.output_tokens);
}

template <class A, Like<domain::Tenant> T>
void fields(A& a, T& v) {
  a("tenant", v.id);
  a("name", v.name);
  a("default_class", v.default_class);
  a("weight", v.weight);
  a("on_overload", v.on_overload);
  a("models", v.models);
  a("limits", v.limits);
  a("guarantee", v.guarantee);
}

template <class A, Like<pool::PoolLimits> T>
void fields(A& a, T& v) {
  a("max_requests", v.max_requests);
  a("max_queued", v.max_queued);
  a("max_engines", v.max_engines);
}

template <class A, Like<pool::PoolPolicy> T>
void fields(A& a, T& v) {
  a("kv_watermark", v.kv_watermark);
  a("peak_z_thousandths", v.peak_z_thousandths);
  a("pace_share", v.pace_share);
  a("ahead", v.ahead);
  a("chunk_floor", v.chunk_floor);
  a("drip", v.drip);
  a("retry_budget", v.retry_budget);
  a("max_bypass", v.max_bypass);
  a("scan_depth", v.scan_depth);
  a("share_slack", v.share_slack);
  a("queue_target", v.queue_target);
  a("patient_queue_target", v.patient_queue_target);
  a("no_engine_grace", v.no_engine_grace);
  a("no_engine_retry", v.no_engine_retry);
  a("deadline_grace", v.deadline_grace);
}

template <class A, Like<pool::PoolConfig> T>
void fields(A& a, T& v) {
  a("classes", v.classes);
  a("tenants", v.tenants);
  a("models", v.models);
  a("limits", v.limits);
  a("policy", v.policy);
  a("seed", v.seed);
}

template <class A, Like<Configuration> T>
void fields(A& a, T& v) {
  a("text", v.text);
  a("policy", v.policy);
  a("pool", v.pool);
}

template <class A, Like<Refused> T>
void fields(A& a, T& v) {
  a("at", v.at);
  a("request", v.request);
  a("status", v.status);
  a("reason", v.reason);
}

// The number of values of a recorded enumeration: anything from there on is malformed.
constexpr int enumerators(domain::Outcome /*type*/) {
  return domain::kOutcomeCount;
}
constexpr int enumerators(domain::Reason /*type*/) {
  return domain::kReasonCount;
}
constexpr int enumerators(domain::Resource /*type*/) {
  return domain::kResourceCount;
}
constexpr int enumerators(domain::Tier /*type*/) {
  return domain::kTierCount;
}
constexpr int enumerators(domain::OnOverload /*type*/) {
  return static_cast<int>(domain::OnOverload::kDowngrade) + 1;
}

}  // namespace tidegate::journal
