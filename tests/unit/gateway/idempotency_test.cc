#include "gateway/idempotency.h"

#include <gtest/gtest.h>

namespace tidegate::gateway {
namespace {

using Verdict = Idempotency::Verdict;

const Idempotency::Key kKey{units::TenantId(1), "k"};
const Idempotency::Fingerprint kBody = Idempotency::fingerprint("/v1/x", "body");

Idempotency::Answer answer(const std::string& text) {
  return std::make_shared<const std::string>(text);
}

// A key goes from new to running to answered, and gives the same answer until its window ends.
TEST(Idempotency, GivesTheAnswerAgain) {
  Idempotency keys;
  const units::Instant start(0);
  EXPECT_EQ(keys.claim(kKey, kBody, start).verdict, Verdict::kNew);
  EXPECT_EQ(keys.claim(kKey, kBody, start).verdict, Verdict::kRunning);
  keys.settle(kKey, true, answer("text"), start);
  const auto again = keys.claim(kKey, kBody, start + Idempotency::kWindow - units::Nanos(1));
  ASSERT_EQ(again.verdict, Verdict::kAnswered);
  EXPECT_EQ(*again.answer, "text");
  EXPECT_EQ(keys.claim(kKey, kBody, start + Idempotency::kWindow).verdict, Verdict::kNew);
}

// What failed or was given up is done afresh.
TEST(Idempotency, ForgetsFailures) {
  Idempotency keys;
  keys.claim(kKey, kBody, units::Instant(0));
  keys.settle(kKey, false, nullptr, units::Instant(0));
  EXPECT_EQ(keys.size(), 0u);
  EXPECT_EQ(keys.claim(kKey, kBody, units::Instant(0)).verdict, Verdict::kNew);
}

// One key for two different bodies or paths is a mistake; for two tenants it is two keys.
TEST(Idempotency, OneKeyIsOneRequestOfOneTenant) {
  Idempotency keys;
  keys.claim(kKey, kBody, units::Instant(0));
  const auto other_body = Idempotency::fingerprint("/v1/x", "other");
  const auto other_path = Idempotency::fingerprint("/v1/y", "body");
  EXPECT_EQ(keys.claim(kKey, other_body, units::Instant(0)).verdict, Verdict::kOther);
  EXPECT_EQ(keys.claim(kKey, other_path, units::Instant(0)).verdict, Verdict::kOther);
  const Idempotency::Key stranger{units::TenantId(2), "k"};
  EXPECT_EQ(keys.claim(stranger, kBody, units::Instant(0)).verdict, Verdict::kNew);
}

// An answer that is not kept is still known to have been given.
TEST(Idempotency, KnowsWhatItDidNotKeep) {
  Idempotency keys;
  keys.claim(kKey, kBody, units::Instant(0));
  keys.settle(kKey, true, nullptr, units::Instant(0));
  EXPECT_EQ(keys.claim(kKey, kBody, units::Instant(0)).verdict, Verdict::kNotKept);
}

// What is held is bounded: the oldest answers go first, by count and by bytes.
TEST(Idempotency, IsBounded) {
  Idempotency keys;
  for (std::size_t i = 0; i < Idempotency::kKeysMax + 100; ++i) {
    const Idempotency::Key key{units::TenantId(1), std::to_string(i)};
    ASSERT_EQ(keys.claim(key, kBody, units::Instant(0)).verdict, Verdict::kNew);
    keys.settle(key, true, answer("x"), units::Instant(0));
  }
  EXPECT_EQ(keys.size(), Idempotency::kKeysMax);
  const std::string large(Idempotency::kAnswerBytesMax / 2, 'x');
  for (const char* name : {"a", "b", "c"}) {
    const Idempotency::Key key{units::TenantId(2), name};
    keys.claim(key, kBody, units::Instant(0));
    keys.settle(key, true, answer(large), units::Instant(0));
  }
  EXPECT_EQ(keys.size(), 2u);
}

// When every key that is kept runs, one more is done without being remembered.
TEST(Idempotency, RunningKeysAreNotForgotten) {
  Idempotency keys;
  for (std::size_t i = 0; i < Idempotency::kKeysMax; ++i) {
    keys.claim({units::TenantId(1), std::to_string(i)}, kBody, units::Instant(0));
  }
  EXPECT_EQ(keys.claim(kKey, kBody, units::Instant(0)).verdict, Verdict::kNew);
  keys.settle(kKey, true, answer("x"), units::Instant(0));
  EXPECT_EQ(keys.size(), Idempotency::kKeysMax);
  EXPECT_EQ(keys.claim({units::TenantId(1), "0"}, kBody, units::Instant(0)).verdict,
            Verdict::kRunning);
}

}  // namespace
}  // namespace tidegate::gateway
