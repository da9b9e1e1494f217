#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "gateway/auth.h"
#include "shell_fixture.h"

namespace tidegate::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Answers : public ShellTest {};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// A chat completion has a text, a finish reason and a usage that adds up, and says who decided
// what.
TEST_F(Answers, ChatWhole) {
  start();
  const Reply reply = post("/v1/chat/completions", chat(R"(,"max_tokens":8)" + kEndless));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto body = boost::json::parse(reply.body).as_object();
  EXPECT_EQ(body.at("object").as_string(), "chat.completion");
  const auto& choice = body.at("choices").as_array().at(0).as_object();
  EXPECT_EQ(choice.at("finish_reason").as_string(), "length");
  EXPECT_FALSE(choice.at("message").at("content").as_string().empty());
  const auto& usage = body.at("usage").as_object();
  EXPECT_EQ(usage.at("completion_tokens").as_int64(), 8);
  EXPECT_EQ(usage.at("total_tokens").as_int64(), usage.at("prompt_tokens").as_int64() + 8);
  EXPECT_THAT(reply.header("x-request-id"), StartsWith("req-"));
  EXPECT_THAT(reply.header("x-tidegate-decision"), StartsWith("admitted; queued_ms="));
  EXPECT_THAT(reply.header("x-tidegate-decision"), HasSubstr("class=interactive"));
}

// A stream has one chunk with the role, one with the finish reason, the usage when it was asked
// for, and [DONE] as its last event.
TEST_F(Answers, ChatStream) {
  start();
  const Reply reply =
      post("/v1/chat/completions", chat(R"(,"max_tokens":8,"stream":true,)"
                                        R"("stream_options":{"include_usage":true})" +
                                        kEndless));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.header("content-type"), StartsWith("text/event-stream"));
  EXPECT_EQ(count(reply.body, R"("role":"assistant")"), 1u);
  EXPECT_EQ(count(reply.body, R"("finish_reason":"length")"), 1u);
  EXPECT_EQ(count(reply.body, R"("completion_tokens":8)"), 1u);
  const std::string done = "data: [DONE]\n\n";
  ASSERT_GE(reply.body.size(), done.size());
  EXPECT_EQ(reply.body.substr(reply.body.size() - done.size()), done);
}

// n choices are n texts of one prompt, which is counted once.
TEST_F(Answers, SeveralChoices) {
  start();
  const Reply one = post("/v1/chat/completions", chat(R"(,"max_tokens":4)" + kEndless));
  const Reply two = post("/v1/chat/completions", chat(R"(,"n":2,"max_tokens":4)" + kEndless));
  ASSERT_EQ(two.status, 200) << two.body;
  const auto body = boost::json::parse(two.body).as_object();
  EXPECT_EQ(body.at("choices").as_array().size(), 2u);
  EXPECT_EQ(body.at("usage").at("completion_tokens").as_int64(), 8);
  EXPECT_EQ(body.at("usage").at("prompt_tokens"),
            boost::json::parse(one.body).at("usage").at("prompt_tokens"));
}

// A text completion continues each of its prompts; a stop string ends it and is not shown.
TEST_F(Answers, TextCompletion) {
  start();
  const Reply reply =
      post("/v1/completions", R"({"model":"tidegate-tiny","prompt":["Once","The sea"],)"
                              R"("max_tokens":200,"stop":["e"],"temperature":0})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto body = boost::json::parse(reply.body).as_object();
  ASSERT_EQ(body.at("choices").as_array().size(), 2u);
  for (const auto& choice : body.at("choices").as_array()) {
    EXPECT_EQ(choice.at("finish_reason").as_string(), "stop");
    EXPECT_THAT(std::string(choice.at("text").as_string()), Not(HasSubstr("e")));
  }
}

// Models are listed, each has a page, and an unknown one has none.
TEST_F(Answers, Models) {
  start();
  EXPECT_THAT(get("/v1/models").body, HasSubstr(R"("id":"tidegate-tiny")"));
  EXPECT_EQ(get("/v1/models/tidegate-tiny").status, 200);
  EXPECT_EQ(get("/v1/models/other").status, 404);
}

// An embedding has the model's width, one vector for each input; or the model cannot do it: 501.
TEST_F(Answers, Embeddings) {
  start();
  const Reply reply = post("/v1/embeddings", R"({"model":"tidegate-tiny","input":["one","two"]})");
  if (reply.status == 501) GTEST_SKIP() << "this model gives no embeddings";
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(boost::json::parse(reply.body).at("data").as_array().size(), 2u);
}

// What can never work is refused with the field at fault and told not to be tried again.
TEST_F(Answers, BadRequests) {
  start();
  const Reply malformed = post("/v1/chat/completions", "{");
  EXPECT_EQ(malformed.status, 400);
  EXPECT_EQ(malformed.header("x-should-retry"), "false");
  EXPECT_THAT(post("/v1/chat/completions", chat(R"(,"temperature":9)")).body,
              HasSubstr(R"("param":"temperature")"));
  EXPECT_EQ(post("/v1/chat/completions", chat(), {"x-tidegate-class: gold"}).status, 400);
  std::string words;
  for (int i = 0; i < 600'000; ++i) words += "tide ";
  const Reply huge =
      post("/v1/completions", R"({"model":"tidegate-tiny","prompt":")" + words + "\"}");
  EXPECT_EQ(huge.status, 400);
  EXPECT_THAT(huge.body, HasSubstr("context_length_exceeded"));
  EXPECT_EQ(get("/v1/chat/completions").status, 405);
  const Reply responses = post("/v1/responses", R"({"model":"tidegate-tiny","input":"hello"})");
  EXPECT_EQ(responses.status, 501);
  EXPECT_EQ(responses.header("x-should-retry"), "false");
  EXPECT_THAT(responses.body, HasSubstr("/v1/chat/completions"));
  EXPECT_EQ(post("/v1/nothing", "{}").status, 404);
  until_empty();
}

// Keys: none and a wrong one get the same 401; a model that is not the tenant's is a 403.
TEST_F(Answers, Keys) {
  start([](config::ServerConfig& config) {
    config.models.push_back({units::ModelId(1), "other"});
    config::EngineConfig other = config.engines[0];
    other.id = units::EngineId(1);
    other.name = "other";
    other.model = units::ModelId(1);
    config.engines.push_back(other);
    config.tenants[0].keys = {digest_of("right")};
    config.tenants[0].values.models = {units::ModelId(1)};
  });
  const Reply none = post("/v1/chat/completions", chat());
  const Reply wrong = post("/v1/chat/completions", chat(), {"authorization: Bearer wrong"});
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(wrong.status, 401);
  const auto message = [](const Reply& reply) {
    return boost::json::parse(reply.body).at("error").at("message");
  };
  EXPECT_EQ(message(none), message(wrong));
  const std::vector<std::string> key = {"authorization: Bearer right"};
  EXPECT_EQ(post("/v1/chat/completions", chat(), key).status, 403);
  EXPECT_THAT(get("/v1/models", key).body, Not(HasSubstr("tidegate-tiny")));
}

}  // namespace
}  // namespace tidegate::gateway
