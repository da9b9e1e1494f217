// The part of the edge for chat and text completions: bodies to tokens, terms and lanes.
#include <algorithm>
#include <utility>

#include "gateway/clock.h"
#include "gateway/edge.h"
#include "gateway/prefix_chain.h"
#include "openai/hints.h"
#include "openai/parse.h"

namespace tidegate::gateway {
namespace {

openai::Refusal too_long(std::int64_t tokens, units::Tokens context, const char* param) {
  openai::Refusal refusal = openai::refusal(openai::EdgeError::kInvalidRequest,
                                            "the prompt has at least " + std::to_string(tokens) +
                                                " tokens and this model's context is " +
                                                std::to_string(context.value()) + "; shorten it",
                                            param);
  refusal.code = "context_length_exceeded";
  return refusal;
}

openai::ParseLimits limits_of(const config::EdgeLimits& limits) {
  openai::ParseLimits parse;
  parse.n = static_cast<std::int32_t>(limits.choices);
  return parse;
}

std::vector<engines::ChatMessage> messages_of(const openai::ChatRequest& request) {
  std::vector<engines::ChatMessage> messages;
  messages.reserve(request.messages.size());
  for (const openai::ChatMessage& message : request.messages) {
    messages.push_back({std::string(openai::name(message.role)), message.content});
  }
  return messages;
}

engines::Sampling sampling_of(const openai::Sampling& asked, std::int64_t choice) {
  engines::Sampling sampling;
  sampling.temperature = asked.temperature;
  sampling.top_p = asked.top_p;
  sampling.top_k = asked.top_k;
  sampling.min_p = asked.min_p;
  sampling.repeat_penalty = asked.repeat_penalty;
  sampling.frequency_penalty = asked.frequency_penalty;
  sampling.presence_penalty = asked.presence_penalty;
  // Choices of one request with one seed would all be the same text.
  if (asked.seed) sampling.seed = static_cast<std::uint32_t>(*asked.seed + choice);
  for (const openai::LogitBias& bias : asked.logit_bias) {
    sampling.logit_bias.push_back({bias.token, bias.bias});
  }
  return sampling;
}

}  // namespace

std::size_t Edge::longest_text(const std::vector<openai::Prompt>& prompts) {
  std::size_t longest = 0;
  for (const openai::Prompt& prompt : prompts) {
    const auto* text = std::get_if<std::string>(&prompt);
    if (text != nullptr) longest = std::max(longest, text->size());
  }
  return longest;
}

Edge::MaybeRefusal Edge::check_bytes(const Passage& passage, std::size_t bytes,
                                     const char* param) const {
  const std::int64_t least =
      static_cast<std::int64_t>(bytes) / std::max<std::int64_t>(passage.model->max_piece_bytes, 1);
  if (least < passage.model->max_context.value()) return std::nullopt;
  return too_long(least, passage.model->max_context, param);
}

Edge::MaybeRefusal Edge::check_tokens(const Passage& passage,
                                      const std::vector<engines::Token>& tokens,
                                      const char* param) const {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (count < passage.model->max_context.value()) return std::nullopt;
  return too_long(count, passage.model->max_context, param);
}

units::Result<std::vector<engines::Token>> Edge::tokens_of(const Passage& passage,
                                                           const openai::Prompt& prompt) const {
  const engines::Tokenizer& tokenizer = passage.model->first->tokenizer();
  if (const auto* text = std::get_if<std::string>(&prompt)) return tokenizer.tokenize(*text);
  const auto& tokens = std::get<std::vector<openai::Token>>(prompt);
  for (const openai::Token token : tokens) {
    if (token >= tokenizer.vocabulary()) {
      return units::error("prompt", "token " + std::to_string(token) +
                                        " is not in the model's vocabulary of " +
                                        std::to_string(tokenizer.vocabulary()));
    }
  }
  return tokens;
}

units::Result<Edge::Prompts> Edge::tokens_of_all(const Passage& passage,
                                                 const std::vector<openai::Prompt>& prompts,
                                                 const char* param) const {
  Prompts all;
  for (const openai::Prompt& prompt : prompts) {
    auto tokens = tokens_of(passage, prompt);
    if (!tokens) return tl::unexpected(tokens.error());
    if (tokens->empty()) return units::error(param, "this gives no tokens; write some text");
    all.push_back(std::move(*tokens));
  }
  return all;
}

void Edge::chat(Passage& passage) {
  const auto asked = openai::parse_chat(passage.exchange->request().body,
                                        limits_of(passage.settings->config.server.limits));
  if (!asked) return refuse(passage, openai::refusal(asked.error()));
  if (const auto refusal = find_model(passage, asked->generation.model)) {
    return refuse(passage, *refusal);
  }
  std::size_t bytes = 0;
  for (const openai::ChatMessage& message : asked->messages) bytes += message.content.size();
  if (const auto refusal = check_bytes(passage, bytes, "messages"))
    return refuse(passage, *refusal);
  auto tokens = passage.model->first->tokenizer().tokenize_chat(messages_of(*asked));
  if (!tokens) {
    return refuse(passage, openai::refusal(openai::EdgeError::kInvalidRequest,
                                           tokens.error().message, "messages"));
  }
  if (const auto refusal = check_tokens(passage, *tokens, "messages")) {
    return refuse(passage, *refusal);
  }
  Prompts prompts;
  prompts.push_back(std::move(*tokens));
  submit(passage, asked->generation, openai::Api::kChat, prompts);
}

void Edge::completion(Passage& passage) {
  const auto asked = openai::parse_completion(passage.exchange->request().body,
                                              limits_of(passage.settings->config.server.limits));
  if (!asked) return refuse(passage, openai::refusal(asked.error()));
  if (const auto refusal = find_model(passage, asked->generation.model)) {
    return refuse(passage, *refusal);
  }
  if (const auto refusal = check_bytes(passage, longest_text(asked->prompts), "prompt")) {
    return refuse(passage, *refusal);
  }
  auto prompts = tokens_of_all(passage, asked->prompts, "prompt");
  if (!prompts) return refuse(passage, openai::refusal(prompts.error()));
  for (const auto& tokens : *prompts) {
    if (const auto refusal = check_tokens(passage, tokens, "prompt"))
      return refuse(passage, *refusal);
  }
  submit(passage, asked->generation, openai::Api::kText, *prompts);
}

void Edge::submit(Passage& passage, const openai::Generation& asked, openai::Api api,
                  const Prompts& prompts) {
  if (!passage.model->generates) {
    return refuse(passage, openai::refusal(openai::EdgeError::kUnsupported,
                                           "this model does not generate text", "model"));
  }
  const auto hints = openai::parse_hints(passage.exchange->request().headers);
  if (!hints) return refuse(passage, openai::refusal(hints.error()));
  const std::vector<domain::ServiceClass>& known = passage.settings->classes;
  const auto terms = agree({*hints, asked.priority.value_or(0)}, *passage.tenant, known);
  if (!terms) return refuse(passage, openai::refusal(terms.error()));
  passage.summary.service_class = known[terms->service_class.value()].name;
  passage.summary.caller_retries = hints->caller_retries;
  passage.summary.stream = asked.stream;
  if (!claim(passage, hints->idempotency_key)) return;
  if (!enter(passage)) return release(passage);
  Submission submission;
  submission.terms = *terms;
  submission.lanes = lanes(passage, asked, terms->service_class, prompts);
  for (Lane& lane : submission.lanes) lane.request.caller_retries = hints->caller_retries;
  submission.call = make_call(passage, asked, api, submission.lanes);
  const std::shared_ptr<Call> call = submission.call;
  if (!parts_.mailbox.try_post(std::move(submission))) {
    call->turned_away();
    const openai::Refusal full = openai::refusal(gateway_full());
    parts_.journal.refused(
        {passage.received, units::RequestId(passage.id), full.status, full.reason});
    return;
  }
  // Last, since it may be told at once that the caller has gone, and then what to abandon is there.
  passage.exchange->on_closed([call](net::CloseReason reason) { call->closed(reason); });
}

std::vector<Lane> Edge::lanes(const Passage& passage, const openai::Generation& asked,
                              units::ClassId service_class, const Prompts& prompts) {
  const domain::Tenant& tenant = passage.tenant->values;
  std::vector<Lane> lanes;
  for (const std::vector<engines::Token>& prompt : prompts) {
    const auto length = static_cast<std::int64_t>(prompt.size());
    const std::uint64_t salt = salt_ ^ (tenant.id.value() << 32U) ^ passage.model->id.value();
    const auto chain = prefix_chain(prompt, passage.model->block_tokens, salt);
    for (std::int32_t choice = 0; choice < asked.n; ++choice) {
      Lane lane;
      domain::Request& request = lane.request;
      request.id = units::RequestId(lanes.empty() ? passage.id : new_id());
      request.tenant = tenant.id;
      request.service_class = service_class;
      request.model = passage.model->id;
      request.arrival = passage.received;
      request.footprint.prompt = units::Tokens(length);
      request.footprint.max_output =
          units::Tokens(asked.max_tokens.value_or(passage.model->max_context.value() - length));
      request.prefix = chain;
      auto generation = std::make_shared<engines::Generation>();
      generation->prompt = prompt;
      generation->sampling = sampling_of(asked.sampling, choice);
      generation->stop = asked.stop;
      generation->logprobs = asked.logprobs;
      lane.generation = std::move(generation);
      lanes.push_back(std::move(lane));
    }
  }
  return lanes;
}

std::shared_ptr<Call> Edge::make_call(const Passage& passage, const openai::Generation& asked,
                                      openai::Api api, const std::vector<Lane>& lanes) {
  CallSetup setup;
  setup.exchange = passage.exchange;
  setup.api = api;
  setup.envelope.id =
      (api == openai::Api::kChat ? "chatcmpl-" : "cmpl-") + passage.summary.request_id.substr(4);
  setup.envelope.model = passage.model->name;
  setup.envelope.fingerprint = "tidegate";
  setup.envelope.created_s = wall_seconds();
  setup.envelope.include_usage = asked.include_usage;
  setup.stream = asked.stream;
  setup.with_logprobs = asked.logprobs >= 0;
  setup.lanes = lanes.size();
  setup.choices_per_prompt = static_cast<std::size_t>(asked.n);
  setup.received = passage.received;
  setup.summary = passage.summary;
  setup.summary.choices = static_cast<std::int64_t>(lanes.size());
  std::vector<units::RequestId> ids;
  for (const Lane& lane : lanes) ids.push_back(lane.request.id);
  setup.abandon = [&mailbox = parts_.mailbox, ids] {
    for (const units::RequestId id : ids) mailbox.post_urgent(domain::CallerLeft{id});
  };
  auto kept = std::make_shared<Idempotency::Answer>();
  if (passage.key) {
    setup.keep = [kept](const std::string& body) {
      *kept = std::make_shared<const std::string>(body);
    };
  }
  setup.done = [metrics = &parts_.metrics, log = &parts_.log, inside = inside_, kept,
                keys = idempotency_, key = passage.key](const CallSummary& summary) {
    inside->fetch_sub(1, std::memory_order_relaxed);
    // A whole answer was paid for, also when its caller did not wait for it.
    const bool answered = summary.outcome == domain::Outcome::kCompleted || *kept;
    if (key) keys->settle(*key, answered, *kept, now());
    metrics->call_ended(summary);
    log->call(summary);
  };
  return std::make_shared<Call>(std::move(setup));
}

bool Edge::claim(Passage& passage, const std::string& key) {
  if (key.empty()) return true;
  const Idempotency::Key claimed{passage.tenant->values.id, key};
  const auto print =
      Idempotency::fingerprint(passage.summary.route, passage.exchange->request().body);
  const Idempotency::Found found = idempotency_->claim(claimed, print, passage.received);
  const auto refused = [&](openai::EdgeError error, const char* why) {
    refuse(passage, openai::refusal(error, why, "idempotency-key"));
    return false;
  };
  switch (found.verdict) {
    case Idempotency::Verdict::kNew:
      passage.key = claimed;
      return true;
    case Idempotency::Verdict::kAnswered:
      answer(passage, 200, *found.answer, {{"x-tidegate-decision", "answered before"}});
      return false;
    case Idempotency::Verdict::kRunning:
      return refused(openai::EdgeError::kSameCallRuns,
                     "the first call with this idempotency key is not answered yet");
    case Idempotency::Verdict::kNotKept:
      return refused(openai::EdgeError::kSameCallAnswered,
                     "the first call with this idempotency key was answered and its answer is not "
                     "kept; send another key to have it done again");
    case Idempotency::Verdict::kOther:
      return refused(openai::EdgeError::kKeyReused,
                     "this idempotency key was used for another request; send a new one");
  }
  return true;
}

void Edge::release(const Passage& passage) {
  if (passage.key) idempotency_->settle(*passage.key, false, nullptr, passage.received);
}

bool Edge::enter(Passage& passage) {
  const std::int64_t before = inside_->fetch_add(1, std::memory_order_relaxed);
  if (before < passage.settings->config.server.limits.requests) return true;
  inside_->fetch_sub(1, std::memory_order_relaxed);
  refuse(passage, openai::refusal(gateway_full()));
  return false;
}

}  // namespace tidegate::gateway
