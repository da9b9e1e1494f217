#include "openai/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate::openai {
namespace {

// A chat body with one more field.
std::string chat_with(std::string_view field) {
  std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}])";
  if (!field.empty()) body.append(",").append(field);
  return body + "}";
}

std::string text_with(std::string_view field) {
  std::string body = R"({"model":"m","prompt":"hi")";
  if (!field.empty()) body.append(",").append(field);
  return body + "}";
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

// The field that the error names; "-" when there is no error.
std::string blamed(const std::string& body) {
  const auto request = parse_chat(body);
  return request ? "-" : request.error().where;
}

std::string blamed_text(const std::string& body) {
  const auto request = parse_completion(body);
  return request ? "-" : request.error().where;
}

std::string blamed_embeddings(const std::string& body) {
  const auto request = parse_embeddings(body);
  return request ? "-" : request.error().where;
}

// Everything that a chat body may say arrives as the value it stands for.
TEST(ParseChat, ReadsEveryField) {
  const auto request = parse_chat(R"({
    "model": "tiny", "messages": [
      {"role": "system", "content": "be brief"},
      {"role": "developer", "content": ""},
      {"role": "user", "name": "ann", "content": [{"type": "text", "text": "a"},
                                                  {"text": "b\u00e9\ud83d\ude00", "type": "text"}]},
      {"role": "assistant", "content": "ok", "tool_calls": [], "refusal": null}],
    "max_tokens": 7, "max_completion_tokens": 9, "n": 2, "temperature": 0, "top_p": 0.5,
    "top_k": 40, "min_p": 0.05, "repetition_penalty": 1.1, "presence_penalty": -2,
    "frequency_penalty": 2.0, "seed": -9223372036854775808, "logit_bias": {"5": -100, "7": 1.5},
    "stop": ["x", "yz"], "logprobs": true, "top_logprobs": 20, "stream": true,
    "stream_options": {"include_usage": true, "other": [1]}, "user": "u", "priority": -3,
    "response_format": {"type": "text"}, "tools": [], "tool_choice": "auto",
    "modalities": ["text"], "metadata": {"any": ["thing", 1.5e3, null, {"a": false}]}})");
  ASSERT_TRUE(request.has_value()) << request.error().where << " " << request.error().message;
  const Generation& generation = request->generation;
  EXPECT_EQ(generation.model, "tiny");
  EXPECT_EQ(generation.max_tokens, 7);
  EXPECT_EQ(generation.n, 2);
  EXPECT_EQ(generation.stop, (std::vector<std::string>{"x", "yz"}));
  EXPECT_EQ(generation.logprobs, 20);
  EXPECT_TRUE(generation.stream);
  EXPECT_TRUE(generation.include_usage);
  EXPECT_EQ(generation.user, "u");
  EXPECT_EQ(generation.priority, -3);
  Sampling sampling;
  sampling.temperature = 0;
  sampling.top_p = 0.5F;
  sampling.top_k = 40;
  sampling.min_p = 0.05F;
  sampling.repeat_penalty = 1.1F;
  sampling.presence_penalty = -2;
  sampling.frequency_penalty = 2;
  sampling.seed = std::numeric_limits<std::int64_t>::min();
  sampling.logit_bias = {{5, -100}, {7, 1.5F}};
  EXPECT_EQ(generation.sampling, sampling);
  ASSERT_EQ(request->messages.size(), 4U);
  EXPECT_EQ(request->messages[0].role, Role::kSystem);
  EXPECT_EQ(request->messages[1].role, Role::kDeveloper);
  EXPECT_EQ(request->messages[1].content, "");
  EXPECT_EQ(request->messages[2].content, "a\nb\u00e9\U0001F600");
  EXPECT_EQ(request->messages[3].role, Role::kAssistant);
}

// What is not said has the API's default, and null is the same as not said.
TEST(ParseChat, DefaultsAreTheApis) {
  const std::string nulls = chat_with(
      R"("max_tokens":null,"n":null,"temperature":null,"stop":null,"seed":null,"stream":null,)"
      R"("stream_options":null,"logprobs":null,"top_logprobs":null,"logit_bias":null,)"
      R"("user":null,"tools":null,"functions":null,"response_format":null,"priority":null)");
  for (const std::string& body : {chat_with(""), nulls}) {
    const auto request = parse_chat(body);
    ASSERT_TRUE(request.has_value()) << request.error().where;
    EXPECT_EQ(request->generation.sampling, Sampling());
    EXPECT_EQ(request->generation.max_tokens, std::nullopt);
    EXPECT_EQ(request->generation.n, 1);
    EXPECT_EQ(request->generation.logprobs, -1);
    EXPECT_FALSE(request->generation.stream);
    EXPECT_TRUE(request->generation.stop.empty());
  }
}

// A wrong value is refused and its field named: wrong type, just out of range, absurd, or something
// that is not offered here.
TEST(ParseChat, NamesTheFieldAtFault) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"max_tokens",
       {"0",
        "-1",
        "1.5",
        "1.0",
        "\"5\"",
        "true",
        "[]",
        "{}",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e400",
        "1e3",
        "NaN",
        "Infinity",
        "-0.5",
        "1073741825",
        "05",
        "+5",
        "0x5"}},
      {"max_completion_tokens", {"0", "9223372036854775808", "1e400"}},
      {"n", {"0", "17", "1000000", "1.5", "\"1\""}},
      {"temperature", {"-0.001", "2.001", "1e400", "NaN", "\"1\"", "[1]"}},
      {"top_p", {"0", "1.0001", "-1", "1e999"}},
      {"top_k", {"-2", "2147483648", "1.5"}},
      {"min_p", {"-0.1", "1.1"}},
      {"repeat_penalty", {"0", "2.1"}},
      {"presence_penalty", {"-2.1", "2.1"}},
      {"frequency_penalty", {"-2.1", "2.1"}},
      {"seed", {"9223372036854775808", "-9223372036854775809", "1.5", "\"1\""}},
      {"stop",
       {"\"\"", "[\"\"]", "[\"a\",\"b\",\"c\",\"d\",\"e\"]", "5", "[5]", "{}",
        "\"" + std::string(1025, 'x') + "\""}},
      {"logprobs", {"1", "\"true\""}},
      {"logit_bias",
       {"[]", "{\"a\":1}", "{\"-1\":1}", "{\"1\":101}", "{\"1\":1,\"1\":1}", "{\"1.5\":1}",
        "{\"99999999999\":1}", "{\"1\":\"x\"}"}},
      {"stream", {"1", "\"yes\""}},
      {"user", {"5", "\"" + std::string(513, 'x') + "\""}},
      {"priority", {"2147483648", "1.5"}},
      {"response_format", {"\"text\"", "{}", "{\"type\":\"json_object\"}"}},
      {"tools", {"[{\"type\":\"function\"}]", "{}"}},
      {"functions", {"[{}]"}},
      {"modalities", {"[\"audio\"]", "\"text\""}},
  };
  for (const auto& [field, values] : wrong) {
    for (const std::string& value : values) {
      EXPECT_EQ(blamed(chat_with("\"" + field + "\":" + value)), field) << value;
    }
  }
}

// The first and last values of each range are inside it.
TEST(ParseChat, RangesIncludeTheirEnds) {
  for (const char* field :
       {"\"max_tokens\":1", "\"max_tokens\":1073741824", "\"n\":16", "\"temperature\":2",
        "\"temperature\":-0.0", "\"top_p\":1", "\"top_p\":1e-300", "\"top_k\":-1",
        "\"presence_penalty\":-2.0", "\"frequency_penalty\":2", "\"seed\":9223372036854775807",
        "\"stop\":[\"a\",\"b\",\"c\",\"d\"]", "\"stop\":[]", "\"logprobs\":true",
        "\"logprobs\":true,\"top_logprobs\":0", "\"unknown\":123456789012345678901234567890"}) {
    EXPECT_EQ(blamed(chat_with(field)), "-") << field;
  }
}

// Fields that only make sense together are checked together.
TEST(ParseChat, ChecksFieldsTogether) {
  EXPECT_EQ(blamed(chat_with(R"("top_logprobs":3)")), "top_logprobs");
  EXPECT_EQ(blamed(chat_with(R"("top_logprobs":3,"logprobs":false)")), "top_logprobs");
  EXPECT_EQ(blamed(chat_with(R"("stream_options":{"include_usage":true})")), "stream_options");
  EXPECT_EQ(blamed(chat_with(R"("stream":true,"stream_options":{"include_usage":1})")),
            "stream_options.include_usage");
}

// A field given twice is refused wherever it has a meaning, and however it is spelled.
TEST(ParseChat, RefusesDuplicates) {
  EXPECT_EQ(blamed(chat_with(R"("n":1,"n":2)")), "n");
  EXPECT_EQ(blamed(chat_with(R"("n":1,"\u006e":2)")), "n");
  EXPECT_EQ(blamed(chat_with(R"("model":"other")")), "model");
  EXPECT_EQ(blamed(R"({"model":"m","messages":[{"role":"user","role":"user","content":""}]})"),
            "messages[0].role");
  EXPECT_EQ(blamed(chat_with(R"("unknown":1,"unknown":2)")), "-");
}

// What is missing is named; an empty conversation is refused.
TEST(ParseChat, NamesWhatIsMissing) {
  EXPECT_EQ(blamed(R"({"messages":[{"role":"user","content":"hi"}]})"), "model");
  EXPECT_EQ(blamed(R"({"model":"","messages":[{"role":"user","content":"hi"}]})"), "model");
  EXPECT_EQ(blamed(R"({"model":"m"})"), "messages");
  EXPECT_EQ(blamed(R"({"model":"m","messages":[]})"), "messages");
  EXPECT_EQ(blamed(R"({"model":"m","messages":null})"), "messages");
  EXPECT_EQ(blamed(R"({"model":"m","messages":"hi"})"), "messages");
}

// A fault inside a message is named by its path.
TEST(ParseChat, NamesThePathInMessages) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"("hi")", "messages[1]"},
      {R"({"content":"x"})", "messages[1].role"},
      {R"({"role":"tool","content":"x"})", "messages[1].role"},
      {R"({"role":"User","content":"x"})", "messages[1].role"},
      {R"({"role":5,"content":"x"})", "messages[1].role"},
      {R"({"role":"user"})", "messages[1].content"},
      {R"({"role":"user","content":null})", "messages[1].content"},
      {R"({"role":"user","content":5})", "messages[1].content"},
      {R"({"role":"user","content":"\ud800"})", "messages[1].content"},
      {R"({"role":"user","content":["x"]})", "messages[1].content[0]"},
      {R"({"role":"user","content":[{"type":"text"}]})", "messages[1].content[0].text"},
      {R"({"role":"user","content":[{"type":"text","text":"a"},)"
       R"({"type":"image_url","image_url":{}}]})",
       "messages[1].content[1].type"},
      {R"({"role":"assistant","content":"x","tool_calls":[{}]})", "messages[1].tool_calls"},
  };
  for (const auto& [message, path] : wrong) {
    EXPECT_EQ(
        blamed(R"({"model":"m","messages":[{"role":"user","content":"hi"},)" + message + "]}"),
        path);
  }
}

// Bytes that are not one JSON object in UTF-8 are refused as a whole, wherever the fault is.
TEST(ParseChat, RefusesWhatIsNotJson) {
  const std::string good = chat_with("");
  std::vector<std::string> bodies = {
      "",
      " ",
      "null",
      "5",
      "[]",
      "\"text\"",
      "{",
      "}",
      good + "x",
      good + good,
      good + "]",
      chat_with(R"("x":)"),
      chat_with(R"("x":1,)"),
      chat_with(R"("x" 1)"),
      chat_with(R"('x':1)"),
      chat_with(R"("x":[1,])"),
      chat_with(R"("x":[1 2])"),
      chat_with(R"("x":{"a":})"),
      chat_with(R"("x":tru)"),
      chat_with(R"("x":nulll)"),
      chat_with(R"("x":"\q")"),
      chat_with(R"("x":"\udc00")"),
      chat_with("\"x\":\"\xff\""),
      chat_with("\"x\":\"\xed\xa0\x80\""),
      chat_with("\"x\":\"\xc0\xaf\""),
      chat_with("\"x\":\"a\nb\""),
      chat_with(std::string("\"x\":\0", 5)),
      "\xff\xfe{}",
  };
  for (std::size_t cut = 0; cut < good.size(); ++cut) bodies.push_back(good.substr(0, cut));
  for (const std::string& body : bodies) {
    const auto request = parse_chat(body);
    ASSERT_FALSE(request.has_value()) << body;
    EXPECT_FALSE(request.error().message.empty());
  }
}

// Nesting is allowed up to the cap of 64, the body counted, and refused beyond it, everywhere.
TEST(ParseChat, CapsDepth) {
  EXPECT_EQ(blamed(chat_with("\"x\":" + nested(63))), "-");
  for (const std::size_t depth : {64U, 65U, 1000U, 100'000U}) {
    const auto request = parse_chat(chat_with("\"x\":" + nested(depth)));
    ASSERT_FALSE(request.has_value());
    EXPECT_NE(request.error().message.find("too deep"), std::string::npos);
    EXPECT_FALSE(parse_chat(R"({"model":"m","messages":[{"role":"user","content":"","x":)" +
                            nested(depth) + "}]}")
                     .has_value());
    EXPECT_FALSE(parse_chat(chat_with("\"stop\":" + nested(depth))).has_value());
  }
}

// A prompt is a string, strings, tokens, or arrays of tokens.
TEST(ParseCompletion, TakesEveryFormOfPrompt) {
  const auto prompts = [](std::string_view prompt) {
    const auto request = parse_completion(R"({"model":"m","prompt":)" + std::string(prompt) + "}");
    EXPECT_TRUE(request.has_value()) << prompt;
    return request ? request->prompts : std::vector<Prompt>();
  };
  EXPECT_EQ(prompts(R"("a")"), (std::vector<Prompt>{"a"}));
  EXPECT_EQ(prompts(R"(["a","b"])"), (std::vector<Prompt>{"a", "b"}));
  EXPECT_EQ(prompts("[1,0,2147483647]"),
            (std::vector<Prompt>{std::vector<Token>{1, 0, 2147483647}}));
  EXPECT_EQ(prompts("[[1,2],[3]]"),
            (std::vector<Prompt>{std::vector<Token>{1, 2}, std::vector<Token>{3}}));
}

// Empty, mixed and impossible prompts are refused and named.
TEST(ParseCompletion, RefusesOtherPrompts) {
  for (const char* prompt :
       {"\"\"", "[]", "[\"\"]", "[[]]", "[1,\"a\"]", "[\"a\",1]", "[[1],2]", "[[1],\"a\"]", "[-1]",
        "[2147483648]", "[1.5]", "5", "{}", "null", "[null]", "[[[1]]]"}) {
    EXPECT_EQ(blamed_text(R"({"model":"m","prompt":)" + std::string(prompt) + "}"), "prompt")
        << prompt;
  }
  EXPECT_EQ(blamed_text(R"({"model":"m"})"), "prompt");
}

// The text API has its own spelling of log probabilities, and refuses what is not offered.
TEST(ParseCompletion, ReadsItsOwnFields) {
  const auto request = parse_completion(text_with(R"("logprobs":5,"n":3,"best_of":3)"));
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->generation.logprobs, 5);
  EXPECT_EQ(blamed_text(text_with(R"("logprobs":0,"echo":false,"suffix":"")")), "-");
  EXPECT_EQ(blamed_text(text_with(R"("logprobs":21)")), "logprobs");
  EXPECT_EQ(blamed_text(text_with(R"("logprobs":true)")), "logprobs");
  EXPECT_EQ(blamed_text(text_with(R"("echo":true)")), "echo");
  EXPECT_EQ(blamed_text(text_with(R"("suffix":"x")")), "suffix");
  EXPECT_EQ(blamed_text(text_with(R"("best_of":2)")), "best_of");
}

// Prompts times choices is bounded, so that no body asks for more work than its size suggests.
TEST(ParseCompletion, BoundsChoicesInAll) {
  std::string prompts = "[\"a\"";
  for (int i = 1; i < 9; ++i) prompts += ",\"a\"";
  prompts += "]";
  const auto body = [&prompts](int n) {
    return R"({"model":"m","n":)" + std::to_string(n) + R"(,"prompt":)" + prompts + "}";
  };
  EXPECT_EQ(blamed_text(body(14)), "-");
  EXPECT_EQ(blamed_text(body(15)), "prompt");
}

// Embeddings take the forms of prompts as input, and two encodings.
TEST(ParseEmbeddings, ReadsInputs) {
  const auto request = parse_embeddings(
      R"({"model":"e","input":["a","b"],"encoding_format":"base64","dimensions":64,"user":"u"})");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->inputs, (std::vector<Prompt>{"a", "b"}));
  EXPECT_EQ(request->encoding, EncodingFormat::kBase64);
  EXPECT_EQ(request->dimensions, 64);
  EXPECT_EQ(blamed_embeddings(R"({"model":"e","input":""})"), "input");
  EXPECT_EQ(blamed_embeddings(R"({"model":"e"})"), "input");
  EXPECT_EQ(blamed_embeddings(R"({"model":"e","input":"a","encoding_format":"int8"})"),
            "encoding_format");
  EXPECT_EQ(blamed_embeddings(R"({"model":"e","input":"a","dimensions":0})"), "dimensions");
  EXPECT_EQ(blamed_embeddings(R"({"model":"e","input":[)" + std::string(258, ' ') + "1" + "]}"),
            "-");
}

}  // namespace
}  // namespace tidegate::openai
