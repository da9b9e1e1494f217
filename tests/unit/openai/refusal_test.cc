#include "openai/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::openai {
namespace {

using domain::Outcome;
using domain::Reason;

// What the table of the HTTP interface says, restated by outcome: the status before the first byte.
int documented_status(Outcome outcome, Reason reason) {
  const std::set<Reason> nobody = {Reason::kNoEngine, Reason::kDraining, Reason::kEngineLost,
                                   Reason::kEngineError};
  switch (outcome) {
    case Outcome::kCompleted:
      return 200;
    case Outcome::kRejectedInvalid:
      return 400;
    case Outcome::kRejectedCapacity:
      return nobody.contains(reason) ? 503 : 429;
    case Outcome::kRejectedQuota:
      return 429;
    case Outcome::kDeadlineExceeded:
      return 504;
    case Outcome::kCancelled:
      return 499;
    case Outcome::kEngineFailed:
      return 502;
    case Outcome::kShutdown:
      return 503;
  }
  return 0;
}

Form documented_form(Outcome outcome, Phase phase) {
  if (outcome == Outcome::kCompleted) return Form::kResult;
  if (outcome == Outcome::kCancelled) return Form::kNothing;
  return phase == Phase::kStreaming ? Form::kErrorEvent : Form::kErrorBody;
}

// All combinations of the two enums.
std::vector<std::pair<Outcome, Reason>> all_ends() {
  std::vector<std::pair<Outcome, Reason>> all;
  for (int i = 0; i < domain::kOutcomeCount * domain::kReasonCount; ++i) {
    all.emplace_back(static_cast<Outcome>(i / domain::kReasonCount),
                     static_cast<Reason>(i % domain::kReasonCount));
  }
  return all;
}

// Every outcome, reason and phase has the documented status and form; 408 is never used.
TEST(HttpStatus, FollowsTheTable) {
  const std::set<Outcome> retried = {Outcome::kRejectedCapacity, Outcome::kRejectedQuota,
                                     Outcome::kEngineFailed, Outcome::kShutdown};
  for (const auto& [outcome, reason] : all_ends()) {
    for (const Phase phase : {Phase::kBeforeFirstByte, Phase::kStreaming}) {
      const HttpAnswer answer = http_status(outcome, reason, phase);
      EXPECT_EQ(answer.status, documented_status(outcome, reason));
      EXPECT_EQ(answer.form, documented_form(outcome, phase));
      EXPECT_EQ(answer.retry_may_help, retried.contains(outcome));
    }
  }
}

std::string find(const Headers& headers, const std::string& name) {
  const auto at = std::find_if(headers.begin(), headers.end(),
                               [&name](const Header& header) { return header.first == name; });
  return at == headers.end() ? "" : at->second;
}

domain::End end_of(Outcome outcome, Reason reason, units::Nanos retry_after) {
  domain::End end;
  end.outcome = outcome;
  end.reason = reason;
  end.retry_after = retry_after;
  return end;
}

void expect_whole(const Refusal& made, Reason reason) {
  const Headers headers = refusal_headers(made);
  EXPECT_GE(made.status, 400);
  EXPECT_FALSE(made.message.empty());
  EXPECT_FALSE(made.type.empty());
  EXPECT_EQ(made.reason, domain::name(reason));
  EXPECT_EQ(find(headers, "x-tidegate-reason"), domain::name(reason));
  EXPECT_EQ(find(headers, "x-should-retry"), made.should_retry ? "true" : "false");
  EXPECT_EQ(find(headers, "retry-after").empty(), !made.should_retry);
  EXPECT_EQ(made.should_retry, made.retry_after > units::Nanos(0));
}

// Every refusal has a body and headers that a client can read, and that agree with each other.
TEST(Refusal, IsWholeForEveryEnd) {
  for (const auto& [outcome, reason] : all_ends()) {
    if (outcome == Outcome::kCompleted) continue;
    expect_whole(refusal(end_of(outcome, reason, units::Nanos(0))), reason);
    expect_whole(refusal(end_of(outcome, reason, units::milliseconds(1500))), reason);
  }
}

// The body has all the keys of the interface, and null where there is nothing to say.
TEST(Refusal, BodyHasEveryKey) {
  domain::End end =
      end_of(Outcome::kRejectedCapacity, Reason::kKvFull, units::Nanos(1'200'000'001));
  end.full = domain::Resource::kKvBlocks;
  const auto body = boost::json::parse(error_body(refusal(end), "req-1")).as_object();
  const auto& error = body.at("error").as_object();
  EXPECT_EQ(body.size(), 1U);
  EXPECT_EQ(error.at("type").as_string(), "rate_limit_error");
  EXPECT_EQ(error.at("code").as_string(), "server_is_overloaded");
  EXPECT_EQ(error.at("reason").as_string(), domain::name(Reason::kKvFull).data());
  EXPECT_EQ(error.at("what_is_full").as_string(), domain::name(end.full).data());
  EXPECT_EQ(error.at("retry_after_ms").as_int64(), 1201);
  EXPECT_EQ(error.at("request_id").as_string(), "req-1");
  EXPECT_TRUE(error.at("param").is_null());

  const auto plain =
      boost::json::parse(error_body(refusal(EdgeError::kUnknownKey, "No such key.")));
  const auto& edge = plain.at("error").as_object();
  EXPECT_EQ(edge.size(), 7U);
  EXPECT_EQ(edge.at("code").as_string(), "invalid_api_key");
  for (const char* key : {"param", "retry_after_ms", "what_is_full"}) {
    EXPECT_TRUE(edge.at(key).is_null()) << key;
  }
}

// Hints round up: a client that waits exactly as long as told is never too early.
TEST(Refusal, HintsRoundUp) {
  const auto headers = [](units::Nanos retry) {
    return refusal_headers(refusal(end_of(Outcome::kRejectedQuota, Reason::kTokenRate, retry)));
  };
  EXPECT_EQ(find(headers(units::Nanos(1)), "retry-after"), "1");
  EXPECT_EQ(find(headers(units::Nanos(1)), "retry-after-ms"), "1");
  EXPECT_EQ(find(headers(units::seconds(2)), "retry-after"), "2");
  EXPECT_EQ(find(headers(units::seconds(2)), "retry-after-ms"), "2000");
  EXPECT_EQ(find(headers(units::milliseconds(2001)), "retry-after"), "3");
}

// Retrying is never advised where it cannot help, whatever the decision carries.
TEST(Refusal, NeverFitsIsNotRetried) {
  const Refusal made =
      refusal(end_of(Outcome::kRejectedInvalid, Reason::kNeverFits, units::seconds(5)));
  EXPECT_EQ(made.status, 400);
  EXPECT_FALSE(made.should_retry);
  EXPECT_EQ(made.code, "context_length_exceeded");
}

// Edge errors have the documented statuses, and those of the server map back to themselves. Only
// what passes by itself is worth a retry.
TEST(Refusal, EdgeErrorsHaveTheirStatus) {
  const std::vector<std::pair<EdgeError, int>> documented = {
      {EdgeError::kInvalidRequest, 400},   {EdgeError::kUnknownKey, 401},
      {EdgeError::kModelNotAllowed, 403},  {EdgeError::kForbidden, 403},
      {EdgeError::kUnknownModel, 404},     {EdgeError::kUnknownRoute, 404},
      {EdgeError::kMethodNotAllowed, 405}, {EdgeError::kSameCallRuns, 409},
      {EdgeError::kSameCallAnswered, 409}, {EdgeError::kKeyReused, 422},
      {EdgeError::kBodyTooLarge, 413},     {EdgeError::kUriTooLong, 414},
      {EdgeError::kUnsupportedMedia, 415}, {EdgeError::kExpectationFailed, 417},
      {EdgeError::kHeadersTooLarge, 431},  {EdgeError::kInternal, 500},
      {EdgeError::kUnsupported, 501},      {EdgeError::kOverCapacity, 503}};
  ASSERT_EQ(documented.size(), static_cast<std::size_t>(kEdgeErrorCount));
  for (const auto& [error, status] : documented) {
    const Refusal made = refusal(error, "Why.", "field");
    EXPECT_EQ(made.status, status);
    EXPECT_EQ(made.param, "field");
    const bool passes = error == EdgeError::kOverCapacity || error == EdgeError::kSameCallRuns;
    EXPECT_EQ(made.should_retry, passes);
    EXPECT_EQ(refusal(edge_error(status), "").status, status);
  }
  EXPECT_EQ(edge_error(418), EdgeError::kInternal);
}

// A parse error keeps its field, and any bytes of the caller come out as valid JSON.
TEST(Refusal, CarriesTheFieldOfAParseError) {
  const Refusal made = refusal(units::Error{"max_tokens", "must be an integer from 1 to 5"});
  EXPECT_EQ(made.param, "max_tokens");
  EXPECT_EQ(made.message, "max_tokens must be an integer from 1 to 5.");
  EXPECT_EQ(refusal(units::Error{"", "The body is empty."}).message, "The body is empty.");
  const auto quoted =
      boost::json::parse(error_body(refusal(EdgeError::kUnknownModel, "a\"b\n\\c", "model")));
  EXPECT_EQ(quoted.at("error").at("message").as_string(), "a\"b\n\\c");
}

}  // namespace
}  // namespace tidegate::openai
