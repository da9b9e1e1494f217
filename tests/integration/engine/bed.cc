#include "bed.h"

#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "engines/llama/backend.h"

namespace tidegate::engines::llama {

std::string model_path() {
  const char* named = std::getenv("TIDEGATE_TEST_MODEL");
  return named != nullptr && *named != '\0' ? named : TIDEGATE_TEST_MODEL;
}

units::Instant test_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return units::Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

namespace {

LoadedModel load_or_exit() {
  static const LogRoute silent(nullptr);
  LlamaOptions options;
  options.path = model_path();
  if (!load_backends("")) std::exit(1);
  units::Result<LoadedModel> model = load_model(options);
  if (!model) {
    std::fprintf(stderr, "%s %s\n", model.error().where.c_str(), model.error().message.c_str());
    std::exit(1);
  }
  return std::move(*model);
}

}  // namespace

const LoadedModel& test_model() {
  static const LoadedModel model = load_or_exit();
  return model;
}

const LlamaTokenizer& test_tokenizer() {
  static const LlamaTokenizer tokenizer(test_model().handle.get());
  return tokenizer;
}

void Recorder::note(const domain::Accepted& e) {
  of(e.ref).accepted += 1;
}
void Recorder::note(const domain::TokensProduced& e) {
  if (of(e.ref).ended()) of(e.ref).after_end += 1;
  of(e.ref).produced += e.count.value();
}
void Recorder::note(const domain::Finished& e) {
  if (of(e.ref).ended()) of(e.ref).after_end += 1;
  of(e.ref).finished = e;
}
void Recorder::note(const domain::Failed& e) {
  if (of(e.ref).ended()) of(e.ref).after_end += 1;
  of(e.ref).failed = e;
}

void Recorder::on_event(const domain::Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto* e = std::get_if<domain::Accepted>(&event)) note(*e);
  if (const auto* e = std::get_if<domain::TokensProduced>(&event)) note(*e);
  if (const auto* e = std::get_if<domain::Finished>(&event)) note(*e);
  if (const auto* e = std::get_if<domain::Failed>(&event)) note(*e);
  if (const auto* e = std::get_if<domain::StateReport>(&event)) last_report_ = *e;
  if (std::holds_alternative<domain::EngineJoined>(event)) joined_ += 1;
  changed_.notify_all();
}

void Recorder::on_text(const domain::AttemptRef& ref, TextDelta delta) {
  const std::lock_guard lock(mutex_);
  Story& story = of(ref);
  if (story.ended()) story.after_end += 1;
  story.text += delta.text;
  for (TokenLogprob& entry : delta.tokens) {
    story.tokens.push_back(entry.chosen.token);
    story.logprobs.push_back(std::move(entry));
  }
  if (delta.finish) story.finish = delta.finish;
}

Story Recorder::story(std::uint64_t request) const {
  const std::lock_guard lock(mutex_);
  const auto it = stories_.find(request);
  return it == stories_.end() ? Story{} : it->second;
}

std::int64_t Recorder::joined() const {
  const std::lock_guard lock(mutex_);
  return joined_;
}

domain::StateReport Recorder::last_report() const {
  const std::lock_guard lock(mutex_);
  return last_report_;
}

bool Recorder::wait_for(std::uint64_t request) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(30),
                           [&] { return request == 0 ? joined_ > 0 : stories_[request].ended(); });
}

domain::Assign assign_of(const Ask& ask, const domain::EngineSpec& spec) {
  domain::Assign assign;
  assign.ref = {units::RequestId(ask.request), units::Attempt(1), spec.id, spec.epoch};
  assign.tier = ask.tier;
  domain::Request& r = assign.request;
  r.id = units::RequestId(ask.request);
  r.model = spec.model;
  r.arrival = test_now();
  r.footprint.prompt = units::Tokens(static_cast<std::int64_t>(ask.work->prompt.size()));
  r.footprint.max_output = units::Tokens(ask.max_output);
  r.footprint.output.lengths.fill(
      units::Tokens(ask.predicted > 0 ? ask.predicted : ask.max_output));
  r.prefix = ask.prefix;
  r.promise = ask.promise;
  return assign;
}

Bed::Bed(const Options& o) : step_time_(o.step_time) {
  Sizes sizes;
  sizes.max_sequences = o.max_sequences;
  sizes.retained = o.max_sequences;
  sizes.kv_tokens = o.kv_tokens;
  sizes.cached_tokens = o.kv_unified ? o.kv_tokens : o.cached_tokens;
  sizes.max_context = o.kv_unified ? o.kv_tokens : o.kv_tokens / o.max_sequences;
  sizes.max_step_tokens = o.max_step_tokens;
  sizes.kv_unified = o.kv_unified;
  auto life = Life::make({test_model(), test_tokenizer(), sizes, [this] { return now(); }, {}});
  if (!life) std::exit(1);
  life_ = std::move(*life);

  spec_.id = units::EngineId(1);
  spec_.epoch = units::Epoch(1);
  spec_.limits = {.kv_blocks = units::Blocks(sizes.held_tokens() / 16),
                  .max_sequences = o.max_sequences,
                  .max_step_tokens = units::Tokens(o.max_step_tokens),
                  .max_context = units::Tokens(sizes.max_context)};
  spec_.law.base_fs = 100'000'000'000;
  spec_.law.per_token_fs[2] = 150'000'000'000;
  spec_.calibrated = true;
  life_->serve(spec_, o.fill, recorder_);
}

void Bed::submit(const Ask& ask) {
  domain::Assign assign = assign_of(ask, spec_);
  assign.request.arrival = now();
  life_->submit(assign, ask.work);
}

void Bed::abort(std::uint64_t request) {
  life_->abort({units::RequestId(request), units::Attempt(1), spec_.id, spec_.epoch});
}

// The life looks at the clock when it composes a step, when it starts and when it ends it.
units::Instant Bed::now() {
  if (step_time_ == units::Nanos(0)) return test_now();
  if (calls_in_step_ >= 0 && ++calls_in_step_ == 3) virtual_now_ = virtual_now_ + step_time_;
  return virtual_now_;
}

StepOutcome Bed::step() {
  calls_in_step_ = 0;
  const StepOutcome outcome = life_->step();
  calls_in_step_ = -1;
  return outcome;
}

void Bed::run_until_produced(std::uint64_t request, std::int64_t tokens) {
  for (int i = 0; i < 10'000; ++i) {
    const Story s = story(request);
    if (s.ended() || s.produced >= tokens) return;
    ASSERT_NE(step(), StepOutcome::kFatal);
  }
  FAIL() << "no end in sight";
}

void Bed::run() {
  for (int i = 0; i < 10'000 && life_->has_work(); ++i) {
    ASSERT_NE(step(), StepOutcome::kFatal);
  }
  ASSERT_FALSE(life_->has_work());
}

namespace {

std::vector<Token> without_end(std::vector<Token> tokens) {
  if (!tokens.empty() && test_tokenizer().ends_generation(tokens.back())) tokens.pop_back();
  return tokens;
}

}  // namespace

void expect_plain(const Story& story, const Generation& work, std::int64_t max_output) {
  const std::vector<Token> expected = plain_greedy(work.prompt, max_output);
  EXPECT_EQ(story.tokens, without_end(expected));
  EXPECT_EQ(story.produced, static_cast<std::int64_t>(expected.size()));
  const bool ended = test_tokenizer().ends_generation(expected.back());
  EXPECT_EQ(story.finish, ended ? FinishReason::kStop : FinishReason::kLength);
  ASSERT_TRUE(story.finished);
  EXPECT_EQ(story.finished->outcome, domain::Outcome::kCompleted);
  EXPECT_EQ(story.after_end, 0);
}

std::shared_ptr<Generation> greedy(const std::vector<Token>& prompt) {
  auto work = std::make_shared<Generation>();
  work->prompt = prompt;
  work->sampling.temperature = 0;
  work->logprobs = 0;
  return work;
}

std::vector<Token> prompt_of(const std::string& user_text) {
  return test_tokenizer().tokenize_chat({{"user", user_text}}).value();
}

domain::PrefixChain chain_of(const std::vector<Token>& tokens) {
  auto chain = std::make_shared<std::vector<std::uint64_t>>();
  std::uint64_t hash = std::uint64_t{1469598103934665603};  // FNV-1a, long enough for a test
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(tokens[i])) * std::uint64_t{1099511628211};
    if (i % 16 == 15) chain->push_back(hash);
  }
  return chain;
}

std::vector<Token> plain_greedy(const std::vector<Token>& prompt, std::int64_t count) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 2048;
  params.n_batch = 1024;
  params.n_threads = 1;
  params.n_threads_batch = 1;
  const ContextHandle context(llama_init_from_model(test_model().handle.get(), params));
  const SamplerHandle sampler(llama_sampler_init_greedy());
  std::vector<Token> input = prompt;
  std::vector<Token> output;
  while (static_cast<std::int64_t>(output.size()) < count) {
    const auto size = static_cast<std::int32_t>(input.size());
    if (llama_decode(context.get(), llama_batch_get_one(input.data(), size)) != 0) std::exit(1);
    output.push_back(llama_sampler_sample(sampler.get(), context.get(), -1));
    if (test_tokenizer().ends_generation(output.back())) break;
    input = {output.back()};
  }
  return output;
}

}  // namespace tidegate::engines::llama
