// Test bed: the demo model, loaded once; one life of an engine stepped by hand, so that tests are
// exact and need no waiting; a sink that remembers; and plain llama.cpp as the reference.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "domain/event.h"
#include "engines/engine.h"
#include "engines/llama/life.h"
#include "engines/llama/llama_tokenizer.h"
#include "engines/llama/model.h"
#include "engines/llama/row_fill.h"

namespace tidegate::engines::llama {

// The model of the environment variable TIDEGATE_TEST_MODEL, else the demo model of the tree.
std::string model_path();
// Loaded once per process. Fails the process when it cannot be.
const LoadedModel& test_model();
const LlamaTokenizer& test_tokenizer();
units::Instant test_now();

// What became of one try.
struct Story {
  std::string text;
  std::vector<Token> tokens;  // needs Generation::logprobs >= 0
  std::vector<TokenLogprob> logprobs;
  std::optional<FinishReason> finish;
  std::int64_t accepted = 0;
  std::int64_t produced = 0;  // by TokensProduced
  std::optional<domain::Finished> finished;
  std::optional<domain::Failed> failed;
  std::int64_t after_end = 0;  // calls that named the try after its last word

  bool ended() const { return finished.has_value() || failed.has_value(); }
};

// Thread-safe.
class Recorder final : public Sink {
 public:
  void on_event(const domain::Event& event) override;
  void on_text(const domain::AttemptRef& ref, TextDelta delta) override;
  void on_step(units::EngineId /*engine*/, units::Nanos /*took*/) override {}

  Story story(std::uint64_t request) const;
  std::int64_t joined() const;
  domain::StateReport last_report() const;
  // Waits until the try ended, or the engine joined when request is 0; false after half a minute.
  bool wait_for(std::uint64_t request);

 private:
  Story& of(const domain::AttemptRef& ref) { return stories_[ref.request.value()]; }
  void note(const domain::Accepted& e);
  void note(const domain::TokensProduced& e);
  void note(const domain::Finished& e);
  void note(const domain::Failed& e);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Story> stories_;
  std::int64_t joined_ = 0;
  domain::StateReport last_report_;
};

struct Ask {
  std::uint64_t request = 1;
  std::shared_ptr<const Generation> work = nullptr;
  std::int64_t max_output = 16;
  std::int64_t predicted = 0;  // output length that the forecast believes in; 0 = max_output
  domain::PrefixChain prefix = nullptr;
  domain::Tier tier = domain::Tier::kWithinShare;
  domain::Promise promise = {};
};
domain::Assign assign_of(const Ask& ask, const domain::EngineSpec& spec);

// A life stepped by hand, with sizes of the test's choice.
class Bed {
 public:
  struct Options {
    std::int32_t max_sequences = 8;
    std::int32_t kv_tokens = 2048;
    std::int32_t max_step_tokens = 128;
    std::int32_t cached_tokens = 512;  // beside kv_tokens where each sequence has a share of them
    bool kv_unified = false;
    RowFill fill{.least = 2, .attention_per_token = 1};  // whenever anything can be filled up
    // A clock for the life instead of the real one: every step takes this long, and no time passes
    // beside steps. 0: the real one.
    units::Nanos step_time{0};
  };
  explicit Bed(const Options& options);

  void submit(const Ask& ask);
  void abort(std::uint64_t request);
  // Steps until `request` has ended or has produced `tokens`; until all is done without arguments.
  void run_until_produced(std::uint64_t request, std::int64_t tokens);
  void run();
  StepOutcome step();
  units::Instant now();

  Story story(std::uint64_t request) const { return recorder_.story(request); }
  domain::StateReport report() const { return life_->report(); }
  units::Tokens held() const { return life_->held(); }

 private:
  domain::EngineSpec spec_;
  units::Nanos step_time_;
  units::Instant virtual_now_{1};
  int calls_in_step_ = -1;  // of the clock; -1 outside of a step
  Recorder recorder_;
  std::unique_ptr<Life> life_;
};

// The try's tokens are those of plain llama.cpp run on its prompt alone.
void expect_plain(const Story& story, const Generation& work, std::int64_t max_output);

// Greedy work with the tokens remembered.
std::shared_ptr<Generation> greedy(const std::vector<Token>& prompt);
std::vector<Token> prompt_of(const std::string& user_text);
// One number per full block of 16 tokens, equal for equal prefixes.
domain::PrefixChain chain_of(const std::vector<Token>& tokens);

// What plain llama.cpp continues `prompt` with, one llama_decode for the prompt and one for each
// token: the likeliest token each time, at most `count`, the end of text included.
std::vector<Token> plain_greedy(const std::vector<Token>& prompt, std::int64_t count);

}  // namespace tidegate::engines::llama
