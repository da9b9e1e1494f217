#include "gateway/decision_log.h"

#include <gtest/gtest.h>

namespace tidegate::gateway {
namespace {

domain::Request request(std::uint64_t id) {
  domain::Request made;
  made.id = units::RequestId(id);
  return made;
}

// Decisions are kept with their request, in order; wake-ups belong to none.
TEST(DecisionLog, KeepsDecisionsByRequest) {
  DecisionLog log;
  log.arrived(request(1));
  log.decided(domain::Admit{units::RequestId(1)}, units::Instant(5));
  log.decided(domain::WakeAt{}, units::Instant(6));
  log.decided(domain::Admit{units::RequestId(2)}, units::Instant(7));
  const DecisionHistory* history = log.find(units::RequestId(1));
  ASSERT_NE(history, nullptr);
  ASSERT_EQ(history->entries.size(), 1u);
  EXPECT_EQ(history->entries[0].at, units::Instant(5));
  EXPECT_EQ(log.find(units::RequestId(2)), nullptr);
}

// Both the requests and the decisions of one are bounded; the end is always there.
TEST(DecisionLog, IsBounded) {
  DecisionLog log;
  for (std::uint64_t i = 0; i <= DecisionLog::kMaxRequests; ++i) log.arrived(request(i));
  EXPECT_EQ(log.find(units::RequestId(0)), nullptr);
  const units::RequestId last(DecisionLog::kMaxRequests);
  for (std::size_t i = 0; i < 2 * DecisionLog::kMaxEntries; ++i) {
    log.decided(domain::Hold{last, domain::Reason::kNone, 0, {}, {}}, units::Instant(0));
  }
  log.decided(domain::End{last}, units::Instant(1));
  const auto& entries = log.find(last)->entries;
  EXPECT_EQ(entries.size(), DecisionLog::kMaxEntries);
  EXPECT_TRUE(std::holds_alternative<domain::End>(entries.back().decision));
}

}  // namespace
}  // namespace tidegate::gateway
