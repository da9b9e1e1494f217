#include "openai/response.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <string>
#include <vector>

#include "openai/sse.h"

namespace tidegate::openai {
namespace {

namespace json = boost::json;

Envelope envelope() {
  Envelope made;
  made.id = "chatcmpl-1";
  made.model = "tiny";
  made.fingerprint = "fp";
  made.created_s = 1'700'000'000;
  return made;
}

Choice choice(std::string text, std::optional<FinishReason> finish) {
  Choice made;
  made.text = std::move(text);
  made.finish = finish;
  return made;
}

domain::Usage usage() {
  domain::Usage made;
  made.prompt = units::Tokens(10);
  made.cached_prompt = units::Tokens(4);
  made.output = units::Tokens(3);
  return made;
}

// A whole chat answer has exactly the fields of the published schema, with our values in them.
TEST(Response, ChatCompletionFollowsTheSchema) {
  std::vector<Choice> choices = {choice("a\"\n", FinishReason::kStop),
                                 choice("b", FinishReason::kLength)};
  choices[1].index = 1;
  const json::value expected = json::parse(R"({
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "tiny",
    "system_fingerprint": "fp",
    "choices": [
      {"index": 0, "message": {"role": "assistant", "content": "a\"\n", "refusal": null},
       "logprobs": null, "finish_reason": "stop"},
      {"index": 1, "message": {"role": "assistant", "content": "b", "refusal": null},
       "logprobs": null, "finish_reason": "length"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13,
              "prompt_tokens_details": {"cached_tokens": 4}}})");
  EXPECT_EQ(json::parse(completion(Api::kChat, envelope(), choices, usage())), expected);
}

// A whole text answer likewise.
TEST(Response, TextCompletionFollowsTheSchema) {
  const std::vector<Choice> choices = {choice("b", FinishReason::kLength)};
  const json::value expected = json::parse(R"({
    "id": "chatcmpl-1", "object": "text_completion", "created": 1700000000, "model": "tiny",
    "system_fingerprint": "fp",
    "choices": [{"index": 0, "text": "b", "logprobs": null, "finish_reason": "length"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13,
              "prompt_tokens_details": {"cached_tokens": 4}}})");
  EXPECT_EQ(json::parse(completion(Api::kText, envelope(), choices, usage())), expected);
}

// A chat stream is: role, contents, an empty delta with the finish reason, usage without choices.
TEST(Response, ChatChunksFollowTheSchema) {
  Envelope with_usage = envelope();
  with_usage.include_usage = true;
  const std::string head =
      R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,)"
      R"("model":"tiny","system_fingerprint":"fp",)";
  const auto chunk_with = [&head](const std::string& delta, const std::string& finish) {
    return json::parse(head + R"("choices":[{"index":0,"delta":)" + delta +
                       R"(,"logprobs":null,"finish_reason":)" + finish + R"(}],"usage":null})");
  };
  EXPECT_EQ(json::parse(role_chunk(with_usage, 0)),
            chunk_with(R"({"role":"assistant","content":"","refusal":null})", "null"));
  EXPECT_EQ(json::parse(chunk(Api::kChat, with_usage, choice("hi", std::nullopt))),
            chunk_with(R"({"content":"hi"})", "null"));
  EXPECT_EQ(json::parse(chunk(Api::kChat, with_usage, choice("", FinishReason::kStop))),
            chunk_with("{}", R"("stop")"));
  EXPECT_EQ(
      json::parse(usage_chunk(Api::kChat, with_usage, usage())),
      json::parse(head + R"("choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,)"
                         R"("total_tokens":13,"prompt_tokens_details":{"cached_tokens":4}}})"));
  EXPECT_FALSE(json::parse(chunk(Api::kChat, envelope(), choice("hi", std::nullopt)))
                   .as_object()
                   .contains("usage"));
}

std::vector<TokenLogprob> two_tokens() {
  TokenLogprob first;
  first.chosen = {"\xC3\xA9", -0.5F};
  first.top = {{"\xC3\xA9", -0.5F}, {"\xC3", -1.0F}};
  TokenLogprob second;
  second.chosen = {"b", -std::numeric_limits<float>::infinity()};
  return {first, second};
}

// Chat log probabilities carry bytes, so that parts of characters can be put together again.
TEST(Response, ChatLogprobsCarryBytes) {
  Choice made = choice("\u00e9b", FinishReason::kStop);
  made.with_logprobs = true;
  made.logprobs = two_tokens();
  const json::value answer = json::parse(completion(Api::kChat, envelope(), {{made}}, usage()));
  EXPECT_EQ(answer.at("choices").at(0).at("logprobs"), json::parse(R"({
    "content": [
      {"token": "é", "logprob": -0.5, "bytes": [195, 169], "top_logprobs": [
        {"token": "é", "logprob": -0.5, "bytes": [195, 169]},
        {"token": "\ufffd", "logprob": -1.0, "bytes": [195]}]},
      {"token": "b", "logprob": -9999.0, "bytes": [98], "top_logprobs": []}],
    "refusal": null})"));
}

// Text log probabilities are parallel arrays, with offsets counted in characters.
TEST(Response, TextLogprobsAreParallelArrays) {
  Choice made = choice("\u00e9b", FinishReason::kStop);
  made.with_logprobs = true;
  made.logprobs = two_tokens();
  made.text_offset = 7;
  const json::value answer = json::parse(chunk(Api::kText, envelope(), made));
  EXPECT_EQ(answer.at("choices").at(0).at("logprobs"), json::parse(R"({
    "tokens": ["é", "b"], "token_logprobs": [-0.5, -9999.0],
    "top_logprobs": [{"é": -0.5, "\ufffd": -1.0}, {}], "text_offset": [7, 8]})"));
}

// Embeddings are numbers, or the base64 of their little-endian bytes: 1.0 is 00 00 80 3f.
TEST(Response, EmbeddingsInBothEncodings) {
  const std::vector<std::vector<float>> vectors = {{1.0F}, {0.5F, -2.0F}};
  EmbeddingsAnswer answer;
  answer.model = "e";
  answer.vectors = vectors;
  answer.prompt_tokens = 6;
  EXPECT_EQ(json::parse(embeddings(answer)), json::parse(R"({
    "object": "list", "model": "e", "usage": {"prompt_tokens": 6, "total_tokens": 6},
    "data": [{"object": "embedding", "index": 0, "embedding": [1.0]},
             {"object": "embedding", "index": 1, "embedding": [0.5, -2.0]}]})"));
  answer.encoding = EncodingFormat::kBase64;
  const json::value packed = json::parse(embeddings(answer));
  EXPECT_EQ(packed.at("data").at(0).at("embedding").as_string(), "AACAPw==");
  EXPECT_EQ(packed.at("data").at(1).at("embedding").as_string(), "AAAAPwAAAMA=");
}

// The list of models, and one of them.
TEST(Response, ModelsFollowTheSchema) {
  const std::vector<ModelEntry> models = {{"tiny", 5, "tidegate"}};
  const std::string entry = R"({"id":"tiny","object":"model","created":5,"owned_by":"tidegate"})";
  EXPECT_EQ(json::parse(model_list(models)),
            json::parse(R"({"object":"list","data":[)" + entry + "]}"));
  EXPECT_EQ(json::parse(model_object(models[0])), json::parse(entry));
}

// Events end in a blank line; no answer has a line break that would end one early.
TEST(Sse, FramesEvents) {
  EXPECT_EQ(sse_event("{}"), "data: {}\n\n");
  EXPECT_EQ(sse_queued(3, units::milliseconds(120)), ": queued position=3 eta_ms=120\n\n");
  EXPECT_EQ(sse_queued(0, units::Nanos(-5)), ": queued position=0 eta_ms=0\n\n");
  EXPECT_EQ(sse_queued(9, units::Nanos::max()), ": queued position=9\n\n");
  EXPECT_EQ(sse_error("{}"), "\ndata: {}\n\n");
  EXPECT_EQ(kSseDone, "data: [DONE]\n\n");
  const std::string json = chunk(Api::kChat, envelope(), choice("a\nb\r\n", std::nullopt));
  EXPECT_EQ(json.find_first_of("\r\n"), std::string::npos);
}

}  // namespace
}  // namespace tidegate::openai
