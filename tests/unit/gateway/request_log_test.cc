#include "gateway/request_log.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace tidegate::gateway {
namespace {

// A line is one JSON object with ids, sizes and the outcome, whatever a name contains.
TEST(LogLine, IsJson) {
  CallSummary summary;
  summary.request_id = "req-1";
  summary.model = "a \"quoted\"\nname";
  summary.usage.output = units::Tokens(7);
  summary.outcome = domain::Outcome::kRejectedQuota;
  summary.reason = "token_rate";
  summary.status = 429;
  const std::string line = log_line(summary);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto object = boost::json::parse(line).as_object();
  EXPECT_EQ(object.at("model").as_string(), "a \"quoted\"\nname");
  EXPECT_EQ(object.at("output_tokens").as_int64(), 7);
  EXPECT_EQ(object.at("outcome").as_string(), "rejected_quota");
  EXPECT_EQ(object.at("reason").as_string(), "token_rate");
  EXPECT_FALSE(object.contains("first_token_us"));
}

}  // namespace
}  // namespace tidegate::gateway
