// A caller's process is killed and closes nothing itself. In whatever state its request is, the
// engine becomes free without other work, the ledger is empty afterwards, and the stream of the
// caller beside it gets every token.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "caller_process.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Reads = CallerProcess::Reads;

// Of those who stay and of those who are killed: the latter would run far longer than the former.
constexpr int kShort = 1'000;
constexpr int kLong = 3'500;

Question question(int max_tokens, const std::string& more) {
  return {"POST", "/v1/chat/completions",
          chat(R"(,"max_tokens":)" + std::to_string(max_tokens) + more + kEndless)};
}

Question streamed(int max_tokens) {
  return question(max_tokens, R"(,"stream":true,"stream_options":{"include_usage":true})");
}

Question whole(int max_tokens) {
  return question(max_tokens, "");
}

class KilledCaller : public ShellTest {
 protected:
  // An engine for so many at a time; whoever comes later is held.
  void start_for(std::int64_t sequences) {
    start([sequences](config::ServerConfig& config) {
      config.engines[0].max_sequences = sequences;
      config.tenants[0].values.on_overload = domain::OnOverload::kQueue;
      config.classes[0].ttft = units::seconds(600);
    });
  }
  // A stream that has begun.
  std::unique_ptr<Client> bystander() const {
    auto client = std::make_unique<Client>(port());
    client->send(streamed(kShort));
    client->read_until("\"content\"");
    return client;
  }
  // As many are cancelled while the bystander still runs. Then it ends as if it had been alone, and
  // by the engine's own report and in the ledgers of pool and tenant nothing is left.
  void expect_only_these_end(int cancelled, Client& bystander) const {
    until_state_has(R"("ended_total":)" + std::to_string(cancelled) + ",");
    const std::string figures = get("/metrics").body;
    EXPECT_THAT(figures, HasSubstr(R"(outcome="cancelled",tenant="default"} )" +
                                   std::to_string(cancelled) + "\n"));
    EXPECT_THAT(figures, Not(HasSubstr(R"(outcome="completed")")));
    until_state_has(R"("alive":1,"waiting":0)");
    until_state_has(R"("promised_requests":1,)");
    const std::string body = bystander.reply().body;
    EXPECT_THAT(body, HasSubstr(R"("completion_tokens":)" + std::to_string(kShort)));
    EXPECT_THAT(body, HasSubstr("data: [DONE]"));
    until_empty();
    until_state_has(R"("kv_used_blocks":0,)");
    until_state_has(R"("running":0,"waiting":0)");
    until_state_has(R"("alive":0,"on_engines":0,"reserved_tokens":0)");
  }
};

// In the middle of its stream: the running one ends, whether the kernel says goodbye or, as here
// for the second, resets the connection because of unread text.
TEST_F(KilledCaller, InTheMiddleOfItsStream) {
  start_for(3);
  const auto stays = bystander();
  CallerProcess reader(port(), streamed(kLong));
  ASSERT_TRUE(reader.received("\"content\""));
  CallerProcess sleeper(port(), streamed(kLong), Reads::kNothing);
  until_state_has(R"("promised_requests":3,"prefilling":0)");
  EXPECT_TRUE(reader.kill());
  EXPECT_TRUE(sleeper.kill());
  expect_only_these_end(2, *stays);
}

// Its stream is held: it leaves the queue while the engine is still busy with another's.
TEST_F(KilledCaller, WhileItsStreamIsHeld) {
  start_for(1);
  const auto stays = bystander();
  CallerProcess held(port(), streamed(kLong));
  ASSERT_TRUE(held.received(": queued position="));
  EXPECT_TRUE(held.kill());
  expect_only_these_end(1, *stays);
}

// It waits for an answer that comes in one piece, of which nothing was sent yet.
TEST_F(KilledCaller, WhileItsWholeAnswerIsComputed) {
  start_for(2);
  const auto stays = bystander();
  CallerProcess waits(port(), whole(kLong));
  until_state_has(R"("promised_requests":2,"prefilling":0)");
  EXPECT_TRUE(waits.kill());
  expect_only_these_end(1, *stays);
}

// The same while it is held and was told nothing at all.
TEST_F(KilledCaller, WhileItsWholeAnswerIsHeld) {
  start_for(1);
  const auto stays = bystander();
  CallerProcess held(port(), whole(kLong));
  until_state_has(R"("alive":2,"waiting":1)");
  EXPECT_TRUE(held.kill());
  expect_only_these_end(1, *stays);
}

}  // namespace
}  // namespace tidegate::gateway
