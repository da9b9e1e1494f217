// One HTTP exchange that asks for text: it gathers what its lanes (choices) produce and answers,
// whole or as a stream. It is where the three kinds of threads meet: the engine's bring text, the
// decision thread brings what was decided, the network's brings the news that the caller left.
// A mutex guards all of it; nothing under it blocks.
//
// The head of a stream goes out with the first word: as soon as the caller is held, with a comment
// that tells its place in the queue, else with the first text, or with a comment after kWordEvery.
// Until the first text no caller of a stream hears nothing for longer than kWordEvery and a round.
// Once the head is out, with its status 200, a refusal can only be an error event; before that it
// has its own status.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "domain/decision.h"
#include "engines/engine.h"
#include "gateway/rate_view.h"
#include "net/exchange.h"
#include "openai/refusal.h"
#include "openai/response.h"

namespace tidegate::gateway {

// Until its first text a streaming caller is told something this often, held or on an engine.
inline constexpr units::Nanos kWordEvery = units::milliseconds(800);

// What is known of a call when it has ended: one log line.
struct CallSummary {
  std::string request_id;
  std::string tenant;
  std::string model;
  std::string service_class;
  std::string engine;
  std::string route;
  bool stream = false;
  std::int64_t choices = 0;
  domain::Usage usage;
  domain::Outcome outcome = domain::Outcome::kCompleted;
  // domain::name(Reason), or the edge's own word (openai::Refusal::reason): a closed list.
  std::string reason = "none";
  int status = 0;
  units::Nanos queued{0};
  std::optional<units::Nanos> first_token;
  units::Nanos total{0};
  std::int64_t caller_retries = 0;
};

struct CallSetup {
  std::shared_ptr<net::Exchange> exchange;
  openai::Api api = openai::Api::kChat;
  openai::Envelope envelope;
  bool stream = false;
  bool with_logprobs = false;
  std::size_t lanes = 1;
  std::size_t choices_per_prompt = 1;  // lanes that share one prompt: it is counted once
  units::Instant received;
  CallSummary summary;                           // the parts known at the edge
  std::function<void()> abandon;                 // end the lanes that are still alive
  std::function<void(const std::string&)> keep;  // null, or called with a whole answer's body
  std::function<void(const CallSummary&)> done;  // called once
};

// The answer when the gateway itself holds all it may, before the core was asked.
domain::End gateway_full();

class Call {
 public:
  explicit Call(CallSetup setup);

  // Engine threads: the next text of a lane. Dropped when the lane or the call has ended.
  void text(std::size_t lane, engines::TextDelta delta);

  // Decision thread. The lane waits: `ahead` requests go first, it should start at `eta`.
  void held(std::size_t lane, std::int64_t ahead, units::Instant eta);
  // The lane goes to an engine after waiting for `queued`.
  void placed(const std::string& engine, units::Nanos queued);
  // Its promise was loosened, as its tenant agreed to.
  void downgraded();
  void rates(const RateView& view);
  // The lane has ended. With the last one, or the first that was not completed, the call is
  // answered; in the second case the others are abandoned.
  void ended(std::size_t lane, const domain::End& end, const domain::Usage& usage);
  // Tells a streaming caller, if it is time, that it is held, or that its prompt is being computed.
  // True while it wants to be told again.
  bool tell(units::Instant now);

  // The edge: the mailbox is full, so the core never saw the call.
  void turned_away();
  // Network threads: the exchange is over.
  void closed(net::CloseReason reason);

 private:
  struct LaneText {
    std::string text;
    std::vector<openai::TokenLogprob> logprobs;
    std::optional<openai::FinishReason> finish;
    std::int64_t characters = 0;  // shown so far
    bool opened = false;          // its first chunk is out
    domain::Usage usage;
    bool ended = false;
  };

  bool open_stream();
  net::Headers head() const;
  std::string decision_header() const;
  void stream_text(std::size_t lane, engines::TextDelta delta);
  void send(const std::string& bytes);
  void answer_whole();
  void finish_stream();
  void refuse(const domain::End& end);
  domain::Usage usage() const;
  void conclude(domain::Outcome outcome, domain::Reason reason, int status);
  void give_up();

  std::mutex mutex_;
  CallSetup setup_;
  std::vector<LaneText> lanes_;
  std::optional<RateView> rates_;
  std::int64_t ahead_ = 0;
  units::Instant eta_;
  units::Instant told_;  // when the last comment went out
  bool waiting_ = true;  // no lane was placed yet
  bool held_ = false;    // a lane was told to wait
  bool downgraded_ = false;
  bool streaming_ = false;
  bool over_ = false;       // the answer is complete or given up
  bool abandoned_ = false;  // the lanes were told to end
  bool concluded_ = false;
  std::size_t ended_ = 0;
};

}  // namespace tidegate::gateway
