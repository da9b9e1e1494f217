// Port `Engine`: what runs a model for us. The pool tier decides with counts and times; an engine
// holds the tokens and the text, and speaks both languages: down go Assign with the work behind it
// and Abort, up come the events of domain/seam.h and, beside them, text, which never enters the
// core.
//
// Threading: an engine has a thread of its own. submit, abort, embed, drain and stop only post to
// its inbox and return at once; they, spec(), model() and tokenizer() may be called from any thread
// between construction and destruction. Every call of a Sink comes from the engine's thread, one
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/engine_spec.h"
#include "domain/event.h"
#include "domain/seam.h"
#include "engines/tokenizer.h"
#include "units/result.h"

namespace tidegate::engines {

struct LogitBias {
  Token token = 0;
  float bias = 0;
};

// How the next token is drawn; the meanings and neutral values are those of the OpenAI API and,
// for the ones it does not know, of llama.cpp. Applied in the order: logit_bias, penalties, top_k,
// top_p, min_p, temperature.
struct Sampling {
  float temperature = 1;   // <= 0: always the likeliest token
  float top_p = 1;         // 1: off
  std::int32_t top_k = 0;  // 0: off
  float min_p = 0;         // 0: off
  float repeat_penalty = 1;
  float frequency_penalty = 0;
  float presence_penalty = 0;
  // Equal seeds give equal text for equal prompts on an engine whose steps have equal shapes; none:
  // the engine draws one.
  std::optional<std::uint32_t> seed;
  std::vector<LogitBias> logit_bias;
};

// The work behind an Assign: what the core does not need to see. Immutable once submitted; several
// tries and the n choices of one request may share it.
struct Generation {
  std::vector<Token> prompt;  // as many as the footprint's prompt
  Sampling sampling;
  std::vector<std::string> stop;  // text ends before the first of these; none of them empty
  // -1: no log probabilities; k >= 0: of each token, and of the k likeliest beside it (at most 20).
  std::int32_t logprobs = -1;
};

struct Alternative {
  Token token = 0;
  std::string bytes;  // may be part of a UTF-8 character
  float logprob = 0;
};

// One produced token with its natural-log probability under the model's unaltered distribution.
struct TokenLogprob {
  Alternative chosen;
  std::vector<Alternative> top;  // likeliest first
};

enum class FinishReason : std::uint8_t { kStop, kLength };

// Text that may be shown: whole UTF-8 characters only (bytes that can never become one arrive as
// U+FFFD), and nothing that might still turn out to be the start of a stop string. A delta may be
// empty; its tokens are all those produced since the delta before it.
struct TextDelta {
  std::string text;
  std::vector<TokenLogprob> tokens;    // only when Generation::logprobs >= 0
  std::optional<FinishReason> finish;  // set on the last delta of a try that ended by itself
};

// Where an engine reports to. For one try the order is Accepted, then for each step that produced a
// token on_text before TokensProduced, then Finished or Failed as the last word.
class Sink {
 public:
  virtual ~Sink() = default;
  // EngineJoined, EngineDraining, EngineLost, Accepted, TokensProduced, Finished, Failed,
  // StateReport.
  virtual void on_event(const domain::Event& event) = 0;
  virtual void on_text(const domain::AttemptRef& ref, TextDelta delta) = 0;
  // A step was computed and took so long. For figures only.
  virtual void on_step(units::EngineId engine, units::Nanos took) = 0;
};

struct ModelInfo {
  std::string name;         // what the model file calls itself; may be empty
  std::string description;  // architecture, size and quantisation in words
  std::int64_t parameters = 0;
  units::Bytes weights{0};
  units::Tokens trained_context{0};
  std::int32_t vocabulary = 0;
  std::int32_t embedding_width = 0;
  bool generates = true;  // false: an embeddings-only model; submit ends in Failed
};

using EmbedCallback = std::function<void(units::Result<std::vector<float>>)>;

class Engine {
 public:
  virtual ~Engine() = default;

  // Of the present life; the law in it is the calibrated one after EngineJoined was sent.
  virtual domain::EngineSpec spec() const = 0;
  virtual const ModelInfo& model() const = 0;
  virtual const Tokenizer& tokenizer() const = 0;

  // Starts the engine's thread, which calibrates and then sends EngineJoined; after a loss it sends
  // EngineLost and, once it is back, EngineJoined with the next epoch. REQUIRES: called once;
  // `sink` outlives the engine or a later stop().
  virtual void start(Sink& sink) = 0;
  // Runs the try; all that becomes of it is told to the sink. A try of another epoch, a prompt that
  // does not fit its footprint, or tokens outside the vocabulary end in Failed.
  virtual void submit(domain::Assign assign, std::shared_ptr<const Generation> generation) = 0;
  // Ends the try within one step: Finished{kCancelled}, unless it has ended already.
  virtual void abort(domain::Abort abort) = 0;
  // One vector for the whole of `tokens`, of Euclidean length 1; computed between steps. The
  // callback runs on the engine's thread, once, also when the engine stops first.
  virtual void embed(std::vector<Token> tokens, EmbedCallback done) = 0;
  // Takes no new work (later submits end in Failed{kDraining}); what runs may finish. Sends
  // EngineDraining.
  virtual void drain() = 0;
  // Ends everything still alive with Finished{kShutdown}, then ends the thread and returns when it
  // has ended. Idempotent; the destructor does it too. Not from the engine's own thread.
  virtual void stop() = 0;
};

}  // namespace tidegate::engines
