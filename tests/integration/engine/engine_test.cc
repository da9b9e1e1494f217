// The engine as a whole, with its thread.
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <memory>
#include <vector>

#include "bed.h"
#include "engines/llama/llama_engine.h"

namespace tidegate::engines::llama {
namespace {

LlamaOptions options(std::uint64_t engine) {
  LlamaOptions o;
  o.path = model_path();
  o.engine = units::EngineId(engine);
  o.now = test_now;
  o.threads = 1;
  o.max_sequences = 4;
  o.kv_tokens = units::Tokens(4096);
  o.calibration = units::Nanos(0);
  return o;
}

std::unique_ptr<Engine> opened(const LlamaOptions& o) {
  units::Result<std::unique_ptr<Engine>> engine = open_engine(o);
  if (!engine) {
    ADD_FAILURE() << engine.error().where << " " << engine.error().message;
    return nullptr;
  }
  return std::move(*engine);
}

units::Result<std::vector<float>> embedding(Engine& engine, const std::string& text) {
  std::promise<units::Result<std::vector<float>>> promise;
  auto future = promise.get_future();
  engine.embed(engine.tokenizer().tokenize(text), [&promise](units::Result<std::vector<float>> v) {
    promise.set_value(std::move(v));
  });
  return future.get();
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

// What is submitted from outside comes back as events and text, the same as by hand.
TEST(LlamaEngine, Serves) {
  Recorder recorder;
  const auto engine = opened(options(1));
  engine->start(recorder);
  const auto work = greedy(prompt_of("what is tidegate"));
  engine->submit(assign_of({.request = 1, .work = work, .max_output = 20}, engine->spec()), work);
  ASSERT_TRUE(recorder.wait_for(1));
  const std::vector<Token> expected = plain_greedy(work->prompt, 20);
  const Story story = recorder.story(1);
  EXPECT_EQ(story.accepted, 1);
  EXPECT_EQ(story.produced, static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(story.finished->outcome, domain::Outcome::kCompleted);
  EXPECT_EQ(recorder.joined(), 1);
  engine->stop();
}

// Two engines of one process serve at the same time and do not disturb each other.
TEST(LlamaEngine, SeveralInOneProcess) {
  Recorder recorders[2];
  const std::unique_ptr<Engine> engines[2] = {opened(options(1)), opened(options(2))};
  const auto work = greedy(prompt_of("Explain continuous batching."));
  for (std::size_t i = 0; i < 2; ++i) {
    engines[i]->start(recorders[i]);
    engines[i]->submit(
        assign_of({.request = 1, .work = work, .max_output = 30}, engines[i]->spec()), work);
  }
  ASSERT_TRUE(recorders[0].wait_for(1));
  ASSERT_TRUE(recorders[1].wait_for(1));
  EXPECT_EQ(recorders[0].story(1).tokens, recorders[1].story(1).tokens);
  EXPECT_FALSE(recorders[0].story(1).tokens.empty());
}

// A drained engine finishes what runs and refuses what comes; a stopped one ends what still runs.
TEST(LlamaEngine, DrainsAndStops) {
  Recorder recorder;
  const auto engine = opened(options(1));
  engine->start(recorder);
  const auto work = greedy(prompt_of("hi"));
  engine->submit(assign_of({.request = 1, .work = work, .max_output = 4}, engine->spec()), work);
  engine->drain();
  engine->submit(assign_of({.request = 2, .work = work, .max_output = 4}, engine->spec()), work);
  ASSERT_TRUE(recorder.wait_for(2));
  EXPECT_EQ(recorder.story(2).failed->reason, domain::Reason::kDraining);
  ASSERT_TRUE(recorder.wait_for(1));
  EXPECT_EQ(recorder.story(1).finished->outcome, domain::Outcome::kCompleted);
  engine->stop();
}

// stop() gives everything that still lives its one end before it returns.
TEST(LlamaEngine, StopEndsWhatRuns) {
  Recorder recorder;
  const auto engine = opened(options(1));
  engine->start(recorder);
  auto work = greedy(prompt_of("Tell me a story."));
  work->sampling.logit_bias = {{300, 100.0F}};  // never the end of text
  engine->submit(assign_of({.request = 1, .work = work, .max_output = 900}, engine->spec()), work);
  engine->stop();
  ASSERT_TRUE(recorder.story(1).finished);
  EXPECT_EQ(recorder.story(1).finished->outcome, domain::Outcome::kShutdown);
}

// A try of another life of the engine fails.
TEST(LlamaEngine, RefusesAnotherEpoch) {
  Recorder recorder;
  const auto engine = opened(options(1));
  engine->start(recorder);
  domain::EngineSpec other = engine->spec();
  other.epoch = units::Epoch(other.epoch.value() + 1);
  const auto work = greedy(prompt_of("hi"));
  engine->submit(assign_of({.request = 1, .work = work}, other), work);
  ASSERT_TRUE(recorder.wait_for(1));
  EXPECT_EQ(recorder.story(1).failed->reason, domain::Reason::kEngineLost);
}

// Embeddings have length 1 and the model's width, are the same for the same text, and differ for
// another.
TEST(LlamaEngine, Embeds) {
  Recorder recorder;
  const auto engine = opened(options(1));
  engine->start(recorder);
  const auto a = embedding(*engine, "the gate opens");
  const auto b = embedding(*engine, "the gate opens");
  const auto c = embedding(*engine, "kv cache blocks");
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(static_cast<std::int32_t>(a->size()), engine->model().embedding_width);
  EXPECT_NEAR(dot(*a, *a), 1.0, 1e-5);
  EXPECT_EQ(*a, *b);
  EXPECT_LT(dot(*a, *c), 0.999);
}

// Calibration yields a law that is not free, and says so in the spec.
TEST(LlamaEngine, Calibrates) {
  LlamaOptions o = options(1);
  o.calibration = units::milliseconds(200);
  Recorder recorder;
  const auto engine = opened(o);
  engine->start(recorder);
  ASSERT_TRUE(recorder.wait_for(0));
  EXPECT_TRUE(engine->spec().calibrated);
  cost::StepShape decode;
  decode.add_decode(units::Tokens(100));
  EXPECT_GT(cost::predict(engine->spec().law, decode), units::Nanos(0));
}

// What cannot be opened says what is wrong and where.
TEST(LlamaEngine, OpensOnlyWhatItCanServe) {
  LlamaOptions missing = options(1);
  missing.path = "/no/such/model.gguf";
  EXPECT_EQ(open_engine(missing).error().where, missing.path);
  LlamaOptions not_gguf = options(1);
  not_gguf.path = __FILE__;
  EXPECT_FALSE(open_engine(not_gguf));
  LlamaOptions tight = options(1);
  tight.max_sequences = 64;
  tight.kv_tokens = units::Tokens(16'384);
  tight.max_step_tokens = units::Tokens(32);
  EXPECT_EQ(open_engine(tight).error().where, "max_step_tokens");
}

}  // namespace
}  // namespace tidegate::engines::llama
