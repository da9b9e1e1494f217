#include <boost/json.hpp>
#include <thread>

#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

class Overload : public ShellTest {};

// When more is asked than can be done in time, every caller gets an answer or an honest 429 with a
// reason and a time to come back; nobody is left, and the ledger is empty afterwards. Where an
// engine turns out slower than it measured itself to be, who was let in may be told so with a 504.
TEST_F(Overload, RefusesWithReasonAndTime) {
  start([](config::ServerConfig& config) {
    config.engines[0].max_sequences = 2;
    config.classes[0].ttft = units::milliseconds(200);
    config.builtin_classes = false;
  });
  constexpr int kCallers = 40;
  std::vector<Reply> replies(kCallers);
  std::vector<std::thread> callers;
  for (Reply& reply : replies) {
    callers.emplace_back([this, &reply] {
      reply = post("/v1/chat/completions", chat(R"(,"max_tokens":300)" + kEndless));
    });
  }
  for (std::thread& caller : callers) caller.join();
  int refused = 0;
  for (const Reply& reply : replies) {
    if (reply.status == 200) continue;
    if (reply.status == 504) {
      EXPECT_EQ(reply.header("x-tidegate-reason"), "deadline_passed");
      continue;
    }
    ++refused;
    EXPECT_EQ(reply.status, 429) << reply.body;
    EXPECT_GT(std::stoll("0" + reply.header("retry-after-ms")), 0) << reply.head;
    EXPECT_FALSE(reply.header("x-tidegate-reason").empty());
    EXPECT_FALSE(boost::json::parse(reply.body).at("error").at("what_is_full").is_null());
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kCallers);
  until_empty();
}

// The time limit of a request that waits holds while the engine is busy with a stream far beyond it
// [triton#7512]: it is told so, with a reason, before that stream ends.
TEST_F(Overload, ADeadlineHoldsWhileTheEngineIsBusy) {
  start([](config::ServerConfig& config) {
    config.engines[0].max_sequences = 1;
    config.tenants[0].values.on_overload = domain::OnOverload::kQueue;
    config.classes[0].ttft = units::seconds(60);
  });
  Client runner(port());
  runner.send(
      {"POST", "/v1/chat/completions", chat(R"(,"stream":true,"max_tokens":3500)" + kEndless)});
  runner.read_until("\"content\"");
  const Reply late = post("/v1/chat/completions", chat(R"(,"max_tokens":4)" + kEndless),
                          {"x-tidegate-deadline-ms: 200"});
  EXPECT_TRUE(late.status == 429 || late.status == 504) << late.status << late.body;
  EXPECT_FALSE(late.header("x-tidegate-reason").empty());
  until_state_has(R"("alive":1,"waiting":0)");
  until_state_has(R"("ended_total":1,)");
  runner.vanish();
  until_empty();
}

// A tenant's own limit is a 429 that names it, and the headers say what is left.
TEST_F(Overload, TenantLimits) {
  start([](config::ServerConfig& config) { config.tenants[0].values.limits.requests_per_min = 2; });
  const std::string body = chat(R"(,"max_tokens":2)");
  const Reply first = post("/v1/chat/completions", body);
  EXPECT_EQ(first.header("x-ratelimit-limit-requests"), "2");
  EXPECT_EQ(first.header("x-ratelimit-remaining-requests"), "1");
  EXPECT_EQ(post("/v1/chat/completions", body).status, 200);
  const Reply third = post("/v1/chat/completions", body);
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.header("x-tidegate-reason"), "request_rate");
  EXPECT_EQ(third.header("x-ratelimit-remaining-requests"), "0");
}

}  // namespace
}  // namespace tidegate::gateway
