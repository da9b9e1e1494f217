#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <thread>

#include "config/defaults.h"
#include "scripted_engine.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A gateway in front of engines that the test plays.
class Scripted : public ShellTest {
 protected:
  void start_with(std::size_t engines, std::int64_t max_sequences,
                  const std::function<void(config::ServerConfig&)>& change = {}) {
    std::vector<NamedEngine> named;
    for (std::size_t i = 0; i < engines; ++i) {
      auto engine = std::make_unique<ScriptedEngine>(i, max_sequences);
      engines_.push_back(engine.get());
      named.push_back({"e" + std::to_string(i), units::ModelId(0), std::move(engine)});
    }
    const std::vector<std::string> files(engines, "tidegate-tiny.gguf");
    config::ServerConfig config = config::config_for_models(files);
    config.builtin_classes = false;
    if (change) change(config);
    start_with_engines(std::move(config), std::move(named));
  }
  std::thread ask_in_background(Reply& reply, const std::string& more = "",
                                const std::vector<std::string>& headers = {}) const {
    return std::thread([this, &reply, more, headers] {
      reply = post("/v1/chat/completions", chat(more), headers);
    });
  }
  std::vector<ScriptedEngine*> engines_;
};

// What an engine says about a try that was given up does not touch the one that took its place:
// neither its text nor its usage.
TEST_F(Scripted, LateWordsOfAnOldTryAreNotHeard) {
  start_with(2, 4);
  Reply reply;
  std::thread caller = ask_in_background(reply, R"(,"max_tokens":4)");
  while (engines_[0]->assignments() + engines_[1]->assignments() == 0) std::this_thread::yield();
  const std::size_t first = engines_[0]->assignments() > 0 ? 0 : 1;
  const domain::Assign old_try = engines_[first]->assignment(0);
  engines_[first]->say(domain::Failed{old_try.ref, domain::Reason::kEngineError});
  const domain::Assign new_try = engines_[1 - first]->assignment(0);
  engines_[1 - first]->write(new_try.ref, "good");
  engines_[first]->write(old_try.ref, "late");
  engines_[first]->say(domain::Finished{old_try.ref,
                                        domain::Outcome::kCompleted,
                                        {units::Tokens(1), units::Tokens(0), units::Tokens(99)}});
  engines_[1 - first]->complete(
      new_try.ref, {new_try.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  caller.join();
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto body = boost::json::parse(reply.body);
  EXPECT_EQ(body.at("choices").at(0).at("message").at("content").as_string(), "good");
  EXPECT_EQ(body.at("usage").at("completion_tokens").as_int64(), 1);
  EXPECT_THAT(get("/metrics").body, HasSubstr("tidegate_tokens_total{direction=\"output\"} 1"));
  until_empty();
}

// The second failure is the caller's: 502, and a word of when to come back.
TEST_F(Scripted, OneRetryThenTheFailureIsTold) {
  start_with(2, 4);
  Reply reply;
  std::thread caller = ask_in_background(reply);
  while (engines_[0]->assignments() + engines_[1]->assignments() == 0) std::this_thread::yield();
  const std::size_t first = engines_[0]->assignments() > 0 ? 0 : 1;
  for (const std::size_t i : {first, 1 - first}) {
    const domain::AttemptRef ref = engines_[i]->assignment(0).ref;
    engines_[i]->say(domain::Failed{ref, domain::Reason::kEngineError});
  }
  caller.join();
  EXPECT_EQ(reply.status, 502) << reply.body;
  EXPECT_FALSE(reply.header("retry-after-ms").empty());
  until_empty();
}

const std::vector<std::string> kKey = {"idempotency-key: k1"};

// One idempotency key is one piece of work: while the first call runs, a second is told to wait;
// afterwards it gets the same answer, and the engine and the account have seen one request.
TEST_F(Scripted, OneKeyIsOnePieceOfWork) {
  start_with(1, 4);
  Reply first;
  std::thread caller = ask_in_background(first, "", kKey);
  const domain::Assign assign = engines_[0]->assignment(0);
  const Reply second = post("/v1/chat/completions", chat(), kKey);
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.header("x-tidegate-reason"), "same_call_runs");
  EXPECT_EQ(second.header("x-should-retry"), "true");
  engines_[0]->write(assign.ref, "once");
  engines_[0]->complete(assign.ref,
                        {assign.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  caller.join();
  ASSERT_EQ(first.status, 200);
  const Reply third = post("/v1/chat/completions", chat(), kKey);
  EXPECT_EQ(third.status, 200);
  EXPECT_EQ(third.body, first.body);
  EXPECT_EQ(third.header("x-tidegate-decision"), "answered before");
  EXPECT_EQ(engines_[0]->assignments(), 1u);
  EXPECT_THAT(get("/metrics").body, HasSubstr("tidegate_tokens_total{direction=\"output\"} 1"));
  const Reply other = post("/v1/chat/completions", chat(R"(,"max_tokens":9)"), kKey);
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.header("x-should-retry"), "false");
}

// A caller who left before the answer comes back with its key and is served as if for the first
// time.
TEST_F(Scripted, TheKeyOfACallerWhoLeftIsFree) {
  start_with(1, 4);
  Client leaver(port());
  leaver.send({"POST", "/v1/chat/completions", chat(), kKey});
  engines_[0]->assignment(0);
  leaver.vanish();
  until_empty();
  Reply reply;
  std::thread caller = ask_in_background(reply, "", kKey);
  const domain::Assign again = engines_[0]->assignment(1);
  engines_[0]->write(again.ref, "now");
  engines_[0]->complete(again.ref,
                        {again.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  caller.join();
  EXPECT_EQ(reply.status, 200);
}

// A streamed answer is not kept: its key says that it was given.
TEST_F(Scripted, AStreamIsNotGivenAgain) {
  start_with(1, 4);
  Reply reply;
  std::thread caller = ask_in_background(reply, R"(,"stream":true)", kKey);
  const domain::Assign assign = engines_[0]->assignment(0);
  engines_[0]->write(assign.ref, "once");
  engines_[0]->complete(assign.ref,
                        {assign.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  caller.join();
  EXPECT_THAT(reply.body, HasSubstr("[DONE]"));
  const Reply again = post("/v1/chat/completions", chat(R"(,"stream":true)"), kKey);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.header("x-tidegate-reason"), "same_call_answered");
  EXPECT_EQ(again.header("x-should-retry"), "false");
}

// A stream hears its place as soon as it is held, then that it is alive while its prompt is
// computed, and nothing but its text from the first byte of it on.
TEST_F(Scripted, AStreamIsNeverLeftInSilence) {
  start_with(1, 2, [](config::ServerConfig& config) {
    config.tenants[0].values.on_overload = domain::OnOverload::kQueue;
    config.classes[0].ttft = units::seconds(60);
  });
  const auto finish = [this](std::size_t n) {
    const domain::Assign done = engines_[0]->assignment(n);
    engines_[0]->complete(done.ref,
                          {done.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  };
  const Question question{"POST", "/v1/chat/completions", chat(R"(,"stream":true)")};
  Reply replies[2];
  std::thread callers[] = {ask_in_background(replies[0]), ask_in_background(replies[1])};
  engines_[0]->assignment(1);
  Client stream(port());
  stream.send(question);
  EXPECT_THAT(stream.read_until(": queued position="), Not(HasSubstr(": keep-alive")));
  finish(0);
  const domain::Assign held = engines_[0]->assignment(2);
  EXPECT_THAT(stream.read_until(": keep-alive"), Not(HasSubstr("data:")));
  engines_[0]->write(held.ref, "one");
  const std::string before = stream.read_until("one");
  finish(1);
  for (std::thread& caller : callers) caller.join();
  // That a later one is told again shows that the time for another word has passed.
  Client later(port());
  later.send(question);
  later.read_until(": keep-alive");
  finish(2);
  EXPECT_THAT(stream.read_until("[DONE]").substr(before.size()), Not(HasSubstr("keep-alive")));
  finish(3);
  later.read_until("[DONE]");
  until_empty();
}

// Among those who wait, priority decides: lower is more urgent, whoever came first.
TEST_F(Scripted, PriorityOrdersThoseWhoWait) {
  start_with(1, 1, [](config::ServerConfig& config) {
    config.tenants[0].values.on_overload = domain::OnOverload::kQueue;
    config.classes[0].ttft = units::seconds(60);
  });
  Reply replies[3];
  std::vector<std::thread> callers;
  callers.push_back(ask_in_background(replies[0]));
  const domain::Assign running = engines_[0]->assignment(0);
  callers.push_back(ask_in_background(replies[1], R"(,"priority":3,"user":"later")"));
  until_state_has(R"("waiting":1)");
  callers.push_back(ask_in_background(replies[2], R"(,"priority":-3,"max_tokens":7)"));
  until_state_has(R"("waiting":2)");
  const auto finish = [this](const domain::Assign& assign) {
    engines_[0]->write(assign.ref, "x");
    engines_[0]->complete(assign.ref,
                          {assign.request.footprint.prompt, units::Tokens(0), units::Tokens(1)});
  };
  finish(running);
  const domain::Assign second = engines_[0]->assignment(1);
  EXPECT_EQ(second.request.footprint.max_output, units::Tokens(7));
  finish(second);
  finish(engines_[0]->assignment(2));
  for (std::thread& caller : callers) caller.join();
  for (const Reply& reply : replies) EXPECT_EQ(reply.status, 200) << reply.body;
}

}  // namespace
}  // namespace tidegate::gateway
