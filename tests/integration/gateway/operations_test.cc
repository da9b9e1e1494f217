#include <gmock/gmock.h>

#include <thread>

#include "gateway/auth.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;

class OperationsTest : public ShellTest {
 protected:
  // A stream that is running, with its first text received.
  std::unique_ptr<Client> running_stream(int max_tokens) const {
    auto client = std::make_unique<Client>(port());
    client->send({"POST", "/v1/chat/completions",
                  chat(R"(,"stream":true,"max_tokens":)" + std::to_string(max_tokens) + kEndless)});
    client->read_until("\"content\"");
    return client;
  }
};

// A caller that vanishes in the middle of its stream leaves nothing behind.
TEST_F(OperationsTest, VanishedCallersFreeTheLedger) {
  start();
  auto client = running_stream(2'000);
  until_state_has(R"("alive":1)");
  client->vanish();
  until_empty();
  EXPECT_THAT(get("/metrics").body, HasSubstr(R"(outcome="cancelled")"));
}

// So does one that vanishes while it waits for its turn, and who runs does not notice.
TEST_F(OperationsTest, VanishedWaitersAreForgotten) {
  start([](config::ServerConfig& config) {
    config.engines[0].max_sequences = 1;
    config.tenants[0].values.on_overload = domain::OnOverload::kQueue;
    config.classes[0].ttft = units::seconds(60);
  });
  auto runner = running_stream(400);
  Client waiter(port());
  waiter.send(
      {"POST", "/v1/chat/completions", chat(R"(,"stream":true,"max_tokens":4)" + kEndless)});
  waiter.read_until(": queued position=");
  waiter.vanish();
  until_state_has(R"("waiting":0)");
  EXPECT_THAT(runner->reply().body, HasSubstr("data: [DONE]"));
  until_empty();
}

// Draining refuses what comes, finishes what runs, and says so at the readiness probe.
TEST_F(OperationsTest, Drains) {
  start();
  auto runner = running_stream(300);
  EXPECT_EQ(ask(port(), {"POST", "/admin/v1/drain"}).status, 200);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/healthz").status, 200);
  const Reply refused = post("/v1/chat/completions", chat());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("x-tidegate-reason"), "draining");
  EXPECT_THAT(runner->reply().body, HasSubstr("data: [DONE]"));
  while (!shell_->drained()) std::this_thread::yield();
}

// What still runs when the drain's limit has passed ends with an error event, without [DONE].
TEST_F(OperationsTest, AbandonsAtTheLimit) {
  start();
  auto runner = running_stream(2'000);
  shell_->begin_drain();
  shell_->abandon();
  const Reply reply = runner->reply();
  EXPECT_THAT(reply.body, HasSubstr("data: {\"error\":"));
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("[DONE]")));
  while (!shell_->drained()) std::this_thread::yield();
}

// The admin API and the metrics need the admin key where there is one; a decision can be asked for
// by the id that the caller was given.
TEST_F(OperationsTest, AdminNeedsItsKey) {
  start([](config::ServerConfig& config) { config.server.admin.keys = {digest_of("admin")}; });
  const std::vector<std::string> key = {"authorization: Bearer admin"};
  for (const char* path :
       {"/admin/v1/state", "/admin/v1/engines", "/admin/v1/tenants", "/metrics"}) {
    EXPECT_EQ(get(path).status, 401) << path;
    EXPECT_EQ(get(path, key).status, 200) << path;
  }
  const Reply answer = post("/v1/chat/completions", chat(R"(,"max_tokens":2)" + kEndless));
  const Reply why = get("/admin/v1/decisions/" + answer.header("x-request-id"), key);
  EXPECT_THAT(why.body, HasSubstr(R"("decision":"assign")"));
  EXPECT_THAT(why.body, HasSubstr(R"("outcome":"completed")"));
  EXPECT_EQ(get("/admin/v1/decisions/req-1", key).status, 404);
}

// Prometheus gets every family in its text format.
TEST_F(OperationsTest, Metrics) {
  start();
  ASSERT_EQ(post("/v1/chat/completions", chat(R"(,"max_tokens":4)" + kEndless)).status, 200);
  const std::string text = get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("tidegate_requests_total{"));
  EXPECT_THAT(text, HasSubstr("tidegate_tokens_total{direction=\"output\"} 4"));
  EXPECT_THAT(text, HasSubstr("tidegate_time_to_first_token_seconds_count 1"));
  EXPECT_THAT(text, HasSubstr("tidegate_decision_seconds_bucket"));
  EXPECT_THAT(text, HasSubstr("state=\"reserved\"} 0"));
}

}  // namespace
}  // namespace tidegate::gateway
