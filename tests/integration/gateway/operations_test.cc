#include <gmock/gmock.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "gateway/auth.h"
#include "gateway/edge.h"
#include "journal/file.h"
#include "journal/replay.h"
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
  EXPECT_THAT(text, HasSubstr("tidegate_engine_step_seconds_count{engine=\"tidegate-tiny\"}"));
}

// A call that the edge refuses is counted and logged with its reason like one that the pool
// refuses, and so is what the server cannot even read as a request.
TEST_F(OperationsTest, RefusalsOfTheEdgeAreAccountedFor) {
  start([](config::ServerConfig& config) { config.server.limits.body = units::Bytes(100'000); });
  EXPECT_EQ(post("/v1/chat/completions", "{").status, 400);
  EXPECT_EQ(post("/v1/nothing", "{}").status, 404);
  const Reply large = post("/v1/chat/completions", std::string(200'000, ' '));
  EXPECT_EQ(large.status, 413);
  EXPECT_THAT(large.header("x-request-id"), ::testing::StartsWith("req-"));
  const std::string text = get("/metrics").body;
  for (const char* reason : {"invalid_request", "unknown_route", "body_too_large"}) {
    EXPECT_THAT(text,
                HasSubstr("tidegate_rejections_total{reason=\"" + std::string(reason) + "\"} 1"));
  }
  shell_->log().flush();
  std::ostringstream log;
  log << std::ifstream(log_file()).rdbuf();
  EXPECT_THAT(log.str(), HasSubstr(large.header("x-request-id")));
  EXPECT_THAT(log.str(), HasSubstr(R"("reason":"body_too_large")"));
}

// The journal knows them too, and is still whole: the same decisions come out of it.
TEST_F(OperationsTest, RefusalsOfTheEdgeAreInTheJournal) {
  const std::string path = ::testing::TempDir() + "edge_refusals.journal";
  start([&](config::ServerConfig& config) { config.server.journal = {path, true}; });
  ASSERT_EQ(post("/v1/chat/completions", chat(R"(,"max_tokens":2)")).status, 200);
  const Reply refused = post("/v1/chat/completions", "{");
  shell_->stop();
  auto reader = journal::Reader::open(path);
  ASSERT_TRUE(reader);
  std::optional<journal::Replay> replay;
  std::vector<std::string> refusals;
  for (journal::Record record; *reader->next(record) == journal::ReadEnd::kRecord;) {
    if (const auto* configuration = std::get_if<journal::Configuration>(&record)) {
      replay.emplace(configuration->pool);
    } else if (const auto* step = std::get_if<journal::Step>(&record)) {
      EXPECT_FALSE(replay->feed(*step));
    } else {
      const auto& each = std::get<journal::Refused>(record);
      refusals.push_back(request_id_text(each.request.value()) + " " + each.reason);
    }
  }
  EXPECT_THAT(refusals,
              ::testing::ElementsAre(refused.header("x-request-id") + " invalid_request"));
}

// Who asks for text is told in words what was decided.
TEST_F(OperationsTest, DecisionsInWords) {
  start();
  const Reply answer = post("/v1/chat/completions", chat(R"(,"max_tokens":2)" + kEndless));
  const Reply why =
      get("/admin/v1/decisions/" + answer.header("x-request-id"), {"accept: text/plain"});
  EXPECT_EQ(why.status, 200);
  EXPECT_THAT(why.body, HasSubstr("tenant default, class interactive, model tidegate-tiny"));
  EXPECT_THAT(why.body, HasSubstr("sent to engine tidegate-tiny, try 1"));
  EXPECT_THAT(why.body, HasSubstr("ended: completed"));
}

}  // namespace
}  // namespace tidegate::gateway
