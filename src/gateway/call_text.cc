// The half of a Call that carries text: whole answers and streams.
#include <utility>

#include "gateway/call.h"
#include "gateway/clock.h"
#include "openai/sse.h"

namespace tidegate::gateway {
namespace {

openai::Alternative converted(engines::Alternative&& from) {
  return {std::move(from.bytes), from.logprob};
}

std::vector<openai::TokenLogprob> converted(std::vector<engines::TokenLogprob>&& tokens) {
  std::vector<openai::TokenLogprob> out;
  out.reserve(tokens.size());
  for (engines::TokenLogprob& token : tokens) {
    openai::TokenLogprob each{converted(std::move(token.chosen)), {}};
    for (engines::Alternative& other : token.top) each.top.push_back(converted(std::move(other)));
    out.push_back(std::move(each));
  }
  return out;
}

std::optional<openai::FinishReason> converted(std::optional<engines::FinishReason> finish) {
  if (!finish) return std::nullopt;
  return *finish == engines::FinishReason::kStop ? openai::FinishReason::kStop
                                                 : openai::FinishReason::kLength;
}

// Code points of valid UTF-8: every byte that is not a continuation.
std::int64_t characters_of(const std::string& text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

}  // namespace

void Call::text(std::size_t lane, engines::TextDelta delta) {
  const std::lock_guard lock(mutex_);
  if (over_ || lanes_[lane].ended) return;
  if (!setup_.summary.first_token) setup_.summary.first_token = now() - setup_.received;
  if (setup_.stream) {
    stream_text(lane, std::move(delta));
    return;
  }
  LaneText& whole = lanes_[lane];
  whole.text += delta.text;
  if (delta.finish) whole.finish = converted(delta.finish);
  auto logprobs = converted(std::move(delta.tokens));
  whole.logprobs.insert(whole.logprobs.end(), std::make_move_iterator(logprobs.begin()),
                        std::make_move_iterator(logprobs.end()));
}

void Call::stream_text(std::size_t lane, engines::TextDelta delta) {
  if (delta.text.empty() && delta.tokens.empty() && !delta.finish) return;
  if (!streaming_ && !open_stream()) return;
  LaneText& state = lanes_[lane];
  std::string bytes;
  const auto index = static_cast<std::int32_t>(lane);
  if (!state.opened && setup_.api == openai::Api::kChat) {
    bytes = openai::sse_event(openai::role_chunk(setup_.envelope, index));
  }
  state.opened = true;
  const std::int64_t offset = state.characters;
  state.characters += characters_of(delta.text);
  const openai::Choice choice{index,
                              std::move(delta.text),
                              converted(delta.finish),
                              setup_.with_logprobs,
                              converted(std::move(delta.tokens)),
                              offset};
  send(bytes + openai::sse_event(openai::chunk(setup_.api, setup_.envelope, choice)));
}

bool Call::open_stream() {
  net::Headers headers = head();
  headers.emplace_back("content-type", std::string(openai::kEventStream));
  headers.emplace_back("cache-control", "no-cache");
  streaming_ = setup_.exchange->begin_stream(200, std::move(headers));
  if (!streaming_) give_up();
  return streaming_;
}

// A caller that does not read loses its stream: what it holds here is bounded.
void Call::send(const std::string& bytes) {
  if (setup_.exchange->write(bytes)) return;
  setup_.exchange->cut();
  give_up();
}

void Call::answer_whole() {
  std::vector<openai::Choice> choices;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    LaneText& lane = lanes_[i];
    choices.push_back({static_cast<std::int32_t>(i), std::move(lane.text), lane.finish,
                       setup_.with_logprobs, std::move(lane.logprobs), 0});
  }
  net::Headers headers = head();
  headers.emplace_back("content-type", "application/json");
  std::string body = openai::completion(setup_.api, setup_.envelope, choices, usage());
  over_ = true;
  if (setup_.keep) setup_.keep(body);
  const bool sent = setup_.exchange->respond(200, std::move(headers), std::move(body));
  if (sent) {
    conclude(domain::Outcome::kCompleted, domain::Reason::kNone, 200);
  } else {
    conclude(domain::Outcome::kCancelled, domain::Reason::kCallerLeft, 499);
  }
}

void Call::finish_stream() {
  if (!streaming_ && !open_stream()) {
    conclude(domain::Outcome::kCancelled, domain::Reason::kCallerLeft, 499);
    return;
  }
  std::string tail;
  if (setup_.envelope.include_usage) {
    tail = openai::sse_event(openai::usage_chunk(setup_.api, setup_.envelope, usage()));
  }
  send(tail + std::string(openai::kSseDone));
  if (over_) {
    conclude(domain::Outcome::kCancelled, domain::Reason::kCallerLeft, 499);
    return;
  }
  over_ = true;
  setup_.exchange->finish();
  conclude(domain::Outcome::kCompleted, domain::Reason::kNone, 200);
}

}  // namespace tidegate::gateway
